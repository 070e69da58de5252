import { SearchError } from "./search-error.js";

/** Address of siskin.js. */
export const SCRIPT = import.meta.url;

/** Folder of this script: a bundle carries its own copy. */
export const RUNTIME = new URL(".", SCRIPT);

/** The folder's address, ending in `/`, relative to `base` (default: the page). Throws `query` for
 * what is no address. */
export function folderUrl(
  folder: string | URL,
  base: string | URL = globalThis.document?.baseURI ?? SCRIPT,
): URL {
  const url = addressOf(folder, base);
  if (!url.pathname.endsWith("/")) url.pathname += "/";
  url.search = "";
  url.hash = "";
  return url;
}

function addressOf(folder: string | URL, base: string | URL): URL {
  try {
    return new URL(folder, base);
  } catch (cause) {
    throw new SearchError("query", `\`${folder}\` is not an address; name a folder.`, { cause });
  }
}
