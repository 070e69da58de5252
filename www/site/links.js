/** Links as they stand in the repository's documents, made into links of the site. */
import { existsSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { PAGES } from "./pages.js";

export const REPOSITORY = join(dirname(fileURLToPath(import.meta.url)), "../..");

/** Files that are published beside the pages, at the place that they have in the repository. */
const PUBLISHED = /\.(svg|png|json)$/;

/** For markdown-it; `env.source` is the document's path in the repository.
 *
 * A link to a page's document leads to the page, one to a picture or to data to the published file,
 * which is added to `published`. Other files of the repository are not on the site: of a link to one
 * the text remains, with the path as its title. A link to a file that does not exist is an error. */
export function repositoryLinks(markdown, published) {
  markdown.core.ruler.push("repository_links", ({ tokens, env }) => {
    for (const { children } of tokens) {
      if (children !== null) rewrite(children, env.source, published);
    }
  });
}

function rewrite(tokens, source, published) {
  let is_text = false;
  for (const token of tokens) {
    if (token.type === "image") {
      token.attrSet("src", target(token.attrGet("src"), source, published).url);
      token.attrSet("loading", "lazy");
    } else if (token.type === "link_open") {
      const { url, path } = target(token.attrGet("href"), source, published);
      is_text = url === undefined;
      if (is_text) asText(token, path);
      else token.attrSet("href", url);
    } else if (token.type === "link_close" && is_text) {
      token.tag = "span";
      is_text = false;
    }
  }
}

function asText(token, path) {
  token.tag = "span";
  token.attrs = [["title", path]];
}

/** Where a link of the document `source` leads: an address of the site, or only a `path`. */
function target(href, source, published) {
  if (/^([a-z]+:|#|\/)/.test(href)) return { url: href };
  const [file, anchor] = href.split("#");
  const path = posix.join(posix.dirname(source), decodeURI(file));
  if (path.startsWith("..") || !existsSync(join(REPOSITORY, path))) {
    throw new Error(`${source}: the link to ${href} leads to ${path}, which does not exist`);
  }
  const page = PAGES.find((each) => [path, posix.join(path, "README.md")].includes(each.source));
  if (page !== undefined) return { url: page.url + (anchor === undefined ? "" : `#${anchor}`) };
  if (!PUBLISHED.test(path)) return { path };
  published.add(path);
  return { url: `/${path}` };
}
