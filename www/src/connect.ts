import type { OpenOptions } from "./api.js";
import { SearchError } from "./errors.js";
import { type Port, type Reply, type Request, WORKER_NAME } from "./protocol.js";
import { scriptUrl } from "./trusted.js";

/** A running engine and how to stop it. */
export interface Line {
  post(request: Request): void;
  /** Replies and, as `failed`, the death of the worker; set before the first request. */
  onReply: (reply: Reply) => void;
  /** Called at most once, when the engine dies without a reply. */
  onDeath: (error: SearchError) => void;
  stop(): void;
}

/** Instances of the engine's script on this thread that have trapped: each needs a fresh import. */
let trapped_count = 0;

/** Tells this module that the engine on the page's own thread is not to be used again. */
export function retireLocalEngine(): void {
  trapped_count += 1;
}

/** Starts the engine's script in a worker, or on this thread where workers are refused. */
export async function connect(script: URL, place: OpenOptions["worker"]): Promise<Line> {
  if (place !== "never") {
    try {
      return await startWorker(script);
    } catch {
      // Refused by policy or platform: the same script also runs on this thread.
    }
  }
  return startLocal(script);
}

function startWorker(script: URL): Promise<Line> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(scriptUrl(script), { type: "module", name: WORKER_NAME });
    const line: Line = {
      post: (request) => worker.postMessage(request),
      onReply: (reply) => reply.type === "ready" && resolve(line),
      onDeath: reject,
      stop: () => worker.terminate(),
    };
    worker.addEventListener("message", (event) => line.onReply(event.data as Reply));
    worker.addEventListener("error", (event) => {
      event.preventDefault();
      worker.terminate();
      line.onDeath(new SearchError("internal", `The search worker stopped: ${event.message}`));
    });
  });
}

async function startLocal(script: URL): Promise<Line> {
  const fresh = new URL(script);
  if (trapped_count > 0) fresh.searchParams.set("instance", String(trapped_count));
  const engine = await importEngine(fresh);
  const { port1, port2 } = new MessageChannel();
  const line: Line = {
    post: (request) => port2.postMessage(request),
    onReply: () => {},
    onDeath: () => {},
    stop: () => port2.close(),
  };
  port2.addEventListener("message", (event) => line.onReply(event.data as Reply));
  port2.start();
  engine.serve(port1);
  port1.start();
  return line;
}

async function importEngine(script: URL): Promise<{ serve(port: Port): void }> {
  try {
    return (await import(script.href)) as { serve(port: Port): void };
  } catch (cause) {
    throw new SearchError("network", `Could not load ${script.href}. Check the connection.`, {
      cause,
    });
  }
}
