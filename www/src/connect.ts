import { type Reply, type Request, WORKER_NAME } from "./protocol.js";
import { SearchError } from "./search-error.js";
import { scriptUrl } from "./trusted.js";

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

/** Starts the engine's script in a worker; rejects where workers are refused. */
export function startWorker(script: URL): Promise<Line> {
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
