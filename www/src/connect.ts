import type { Begun } from "./begin.js";
import { SearchError } from "./errors.js";
import { startLocal } from "./local.js";
import type { Reply, Request } from "./protocol.js";

/** A running engine and how to stop it. */
export interface Line {
  post(request: Request): void;
  /** Replies and, as `failed`, the death of the worker; set before the first request. */
  onReply: (reply: Reply) => void;
  /** Called at most once, when the engine dies without a reply. */
  onDeath: (error: SearchError) => void;
  stop(): void;
  /** Says that the engine has trapped: the next one must be a fresh one. */
  retire?(): void;
}

/** The line to the engine in its worker or, where there is none, to the same script on this thread. */
export async function connect({ script, worker }: Begun): Promise<Line> {
  const running = await worker;
  return running === undefined ? startLocal(script) : lineTo(running);
}

function lineTo(worker: Worker): Line {
  const line: Line = {
    post: (request) => worker.postMessage(request),
    onReply: () => {},
    onDeath: () => {},
    stop: () => worker.terminate(),
  };
  worker.onmessage = (event) => line.onReply(event.data as Reply);
  worker.onerror = (event) => {
    event.preventDefault();
    worker.terminate();
    line.onDeath(new SearchError("internal", `The worker stopped: ${event.message}`));
  };
  return line;
}
