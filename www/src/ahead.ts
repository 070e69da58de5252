import { addressOf, type FileEntry } from "./load.js";
import { MANIFEST_NAME } from "./manifest.js";

/** Files that arrived on the page, by address; not yet checked. */
export type Ahead = [url: string, bytes: ArrayBuffer][];

/** Fetches what every search begins with while the engine's own script is still on its way: one
 * round trip less before the first answer. What fails is left out: the engine fetches it itself,
 * checks it and says what is wrong. */
export async function fetchAhead(
  bundle: URL,
  runtime: URL,
  module: FileEntry,
  signal: AbortSignal | undefined,
): Promise<Ahead> {
  const wanted: [URL, RequestCache][] = [
    [new URL(MANIFEST_NAME, bundle), "no-cache"],
    [addressOf(module, runtime), "default"],
  ];
  const fetched = await Promise.all(wanted.map(([url, cache]) => bytesAt(url, cache, signal)));
  return fetched.flat();
}

async function bytesAt(
  url: URL,
  cache: RequestCache,
  signal: AbortSignal | undefined,
): Promise<Ahead> {
  try {
    const response = await fetch(url, signal === undefined ? { cache } : { cache, signal });
    return response.ok ? [[url.href, await response.arrayBuffer()]] : [];
  } catch {
    return [];
  }
}
