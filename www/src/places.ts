import { asFolder } from "./folder.js";
import { SearchError } from "./search-error.js";

/** Address of siskin.js. */
export const SCRIPT = import.meta.url;

/** Folder of this script: a bundle carries its own copy. */
export const RUNTIME = new URL(".", SCRIPT);

/** Set by `scripts/build.js`: checksum of the scripts beside this one, all together. */
declare const SISKIN_VERSION: string;

/** Address of a script beside this one, with the version of all, so that caches never pair two. */
export function partUrl(part: string): URL {
  return new URL(`siskin-${part}.js?v=${SISKIN_VERSION}`, RUNTIME);
}

/** The folder's address, ending in `/`, relative to `base` (default: the page). Throws `query` for
 * what is no address. */
export function folderUrl(
  folder: string | URL,
  base: string | URL = globalThis.document?.baseURI ?? SCRIPT,
): URL {
  try {
    return asFolder(new URL(folder, base));
  } catch (cause) {
    throw new SearchError("query", `\`${folder}\` is not an address; name a folder.`, { cause });
  }
}
