import type { OpenOptions, Search } from "./api.js";
import { begin } from "./begin.js";
import { folderUrl, RUNTIME } from "./places.js";
import { loadRest } from "./rest.js";

/** Opens the bundle in the folder `bundle` (relative to the page; default: this script's folder).
 *
 * Rejects with a `SearchError`; nothing of a failure is remembered. */
export async function open(
  bundle: string | URL = RUNTIME,
  options: OpenOptions = {},
): Promise<Search> {
  const folder = folderUrl(bundle);
  const begun = begin(folder, options.worker);
  try {
    return await (await loadRest()).openOn(begun, folder, options);
  } catch (error) {
    begun.worker.then((worker) => worker?.terminate());
    throw error;
  }
}
