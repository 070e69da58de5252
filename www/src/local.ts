import type { Line } from "./connect.js";
import { importScript } from "./import-script.js";
import type { Port, Reply } from "./protocol.js";

/** Instances of the engine's script on this thread that have trapped: each needs a fresh import. */
let trapped_count = 0;

/** Starts the engine's script on this thread. */
export async function startLocal(script: URL): Promise<Line> {
  const fresh = new URL(script);
  if (trapped_count > 0) fresh.searchParams.set("instance", String(trapped_count));
  const engine = (await importScript(fresh)) as { serve(port: Port): void };
  const { port1, port2 } = new MessageChannel();
  const line: Line = {
    post: (request) => port2.postMessage(request),
    onReply: () => {},
    onDeath: () => {},
    stop: () => port2.close(),
    retire: () => {
      trapped_count += 1;
    },
  };
  port2.addEventListener("message", (event) => line.onReply(event.data as Reply));
  port2.start();
  engine.serve(port1);
  port1.start();
  return line;
}
