import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { OpenOptions, Search } from "../../src/api.js";
import type { open as openInNode } from "../../src/node/node.js";

/** The indexed sample site. */
export const SITE = resolve(process.env.SISKIN_SITE_DIR ?? "");

/** Opens a bundle, by default the sample site's, through the built Node entry. */
export async function openBundle(
  options: OpenOptions = {},
  bundle: string = join(SITE, "siskin"),
): Promise<Search> {
  const dist = resolve(process.env.SISKIN_DIST_DIR ?? "");
  const entry = join(dirname(dist), "dist-node/siskin-node.js");
  const { open } = (await import(pathToFileURL(entry).href)) as { open: typeof openInNode };
  return open(bundle, options);
}
