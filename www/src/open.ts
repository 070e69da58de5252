import type { OpenOptions, Search } from "./api.js";
import { begin } from "./begin.js";
import { folderUrl, RUNTIME } from "./places.js";
import { loadRest } from "./rest.js";

/** Opens the bundle in the folder `bundle` (relative to the page; default: this script's folder), or
 * several as one.
 *
 * Rejects with a `SearchError`; nothing of a failure is remembered. */
export async function open(
  bundle: string | URL | (string | URL)[] = RUNTIME,
  options: OpenOptions = {},
): Promise<Search> {
  const folders = [bundle].flat().map((folder) => folderUrl(folder));
  const begun = folders.map((folder) => begin(folder, options.worker));
  try {
    return await (await loadRest()).openAll(begun, folders, options);
  } catch (error) {
    for (const { worker } of begun) worker.then((running) => running?.terminate());
    throw error;
  }
}
