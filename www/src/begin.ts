import type { OpenOptions } from "./api.js";
import { partUrl, RUNTIME } from "./places.js";
import { scriptUrl } from "./trusted.js";

/** Set by `scripts/build.js`: name of the small wasm module with its checksum: the address that the
 * engine asks for. */
declare const SISKIN_SEARCH_WASM: string;

/** What every search begins with, under way while siskin-box.js is too: one round trip less before
 * the first answer. */
export interface Begun {
  /** Address of the engine's script. */
  script: URL;
  /** The engine, once it runs; undefined where policy or platform refuse workers. */
  worker: Promise<Worker | undefined>;
  /** Files that the engine asks for first; not yet checked. What fails is left out: the engine fetches
   * it itself, and says what is wrong. */
  files: Promise<Response | undefined>[];
}

/** Starts the engine and asks for its first files. */
export function begin(bundle: URL, place: OpenOptions["worker"]): Begun {
  const script = partUrl("worker");
  const worker = place === "never" ? Promise.reject() : startWorker(script);
  const files = [
    fetch(new URL("siskin.json", bundle), { cache: "no-cache" }),
    fetch(new URL(SISKIN_SEARCH_WASM, RUNTIME)),
  ];
  return { script, worker: worker.catch(nothing), files: files.map((file) => file.catch(nothing)) };
}

function nothing(): undefined {}

function startWorker(script: URL): Promise<Worker> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(scriptUrl(script), { type: "module", name: "siskin" });
    worker.onmessage = () => resolve(worker);
    worker.onerror = (event) => {
      event.preventDefault();
      reject(event);
    };
  });
}
