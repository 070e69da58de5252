import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { IndexError } from "./index-error.js";

/** A page that is in no folder yet, by its place in the site or by its address. */
export type SourceFile = { content: string | Uint8Array } & (
  | {
      /** Path in the site, with `/`: `guide/abort.html`. */
      path: string;
      url?: never;
    }
  | {
      /** Address in the site: `/guide/abort.html`, or `/guide/` for its `index.html`. */
      url: string;
      path?: never;
    }
);

/** Writes the files below `folder`. Throws `options` for names that lead elsewhere or occur twice, and
 * where there is no file.
 * @internal */
export async function writeFiles(
  files: Iterable<SourceFile> | AsyncIterable<SourceFile>,
  folder: string,
): Promise<void> {
  const written = new Set<string>();
  for await (const file of files) {
    const path = pathOf(file);
    if (written.has(path)) throw new IndexError("options", `There are two files ${path}.`);
    written.add(path);
    const place = join(folder, path);
    await mkdir(dirname(place), { recursive: true });
    await writeFile(place, file.content);
  }
  if (written.size === 0) throw new IndexError("options", "There is no page to index.");
}

function pathOf(file: SourceFile): string {
  const path = file.path ?? pathOfAddress(file.url);
  const names = path.split("/");
  if (names.some((name) => name === "" || name === "." || name === "..") || /[\\\0]/.test(path)) {
    throw new IndexError(
      "options",
      `\`${path}\` is no path of a file in a site; write it as guide/abort.html.`,
    );
  }
  return path;
}

/** `/guide/` is `guide/index.html`, as static hosts have it. */
function pathOfAddress(url: string): string {
  if (!/^\/([^?#]*\/|[^?#]*\.html?)?$/.test(url)) {
    throw new IndexError(
      "options",
      `\`${url}\` is no address of a page; write it as /guide/ or /guide/abort.html.`,
    );
  }
  return decoded(url.slice(1)) + (url.endsWith("/") ? "index.html" : "");
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch (cause) {
    throw new IndexError("options", `\`${path}\` is not encoded as addresses are.`, { cause });
  }
}
