import { fetchAhead } from "./ahead.js";
import type { OpenOptions, Search } from "./api.js";
import { startWorker } from "./connect.js";
import type { FileEntry } from "./load.js";
import { folderUrl, RUNTIME } from "./places.js";
import { loadRest } from "./rest.js";
import { abortedError } from "./search-error.js";

/** Set by `scripts/build.js`: name of the engine's script with its checksum, so that caches never
 * pair two versions. */
declare const SISKIN_WORKER: string;
/** Set by `scripts/build.js`: the small wasm module. */
declare const SISKIN_SEARCH_WASM: FileEntry;

/** Opens the bundle in the folder `bundle` (relative to the page; default: this script's folder).
 *
 * Rejects with a `SearchError`; nothing of a failure is remembered. */
export async function open(
  bundle: string | URL = RUNTIME,
  options: OpenOptions = {},
): Promise<Search> {
  const folder = folderUrl(bundle);
  if (options.signal?.aborted) throw abortedError(options.signal);
  const script = new URL(SISKIN_WORKER, RUNTIME);
  // Where policy or platform refuse workers, the same script runs on this thread.
  const worker =
    options.worker === "never" ? undefined : startWorker(script).catch(() => undefined);
  const files = fetchAhead(folder, RUNTIME, SISKIN_SEARCH_WASM, options.signal);
  try {
    const [rest, line, ahead] = await Promise.all([loadRest(), worker, files]);
    return await rest.openOn(line ?? (await rest.startLocal(script)), folder, ahead, options);
  } catch (error) {
    worker?.then((line) => line?.stop());
    throw error;
  }
}
