import type { Ahead } from "./ahead.js";
import type { Answer, Progress } from "./api.js";
import type { SearchErrorCode } from "./errors.js";
import type { CheckedQuery } from "./query.js";

/** Name of our worker, by which its script knows that it was started and not imported. */
export const WORKER_NAME = "siskin";

/** Where the engine finds its files. */
export interface Places {
  /** Folder of the bundle. */
  bundle: string;
  /** Folder of the wasm files. */
  runtime: string;
}

/** From the page to the engine. Ids count up from 1 and are not used twice. */
export type Request =
  | { type: "open"; id: number; places: Places; ahead: Ahead }
  | { type: "query"; id: number; query: CheckedQuery }
  | { type: "prefetch"; id: number }
  | { type: "cancel"; id: number };

/** From the engine to the page. */
export type Reply =
  | { type: "ready" }
  | { type: "progress"; progress: Progress }
  | { type: "loaded"; url: string }
  | { type: "done"; id: number; answer: Answer | undefined }
  | { type: "failed"; id: number; code: SearchErrorCode; message: string };

/** The two ends of the line: a worker, a worker's own scope or a `MessagePort`. */
export interface Port {
  postMessage(message: Request | Reply): void;
  addEventListener(type: "message", listener: (event: MessageEvent) => void): void;
}
