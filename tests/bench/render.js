/** Renders a tree of Markdown documentation to plain HTML, as a static site has it:
 *
 *     node render.js mdn|opensearch|rust-book FOLDER OUT
 *
 * FOLDER is the unpacked archive. OUT becomes the site; OUT.pages.json maps the address of each page
 * to its id in the BEIR collection of the same name.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import GithubSlugger from "github-slugger";
import MarkdownIt from "markdown-it";
import { parse as parseYaml } from "yaml";
import { escapeHtml, expandLiquid, expandMdBook, expandMdnMacros } from "./macros.js";

/** How each site is laid out and which dialect it is written in. */
const SITES = {
  mdn: {
    name: "MDN",
    root: "files/en-us",
    id: (path, matter) => (matter.slug ?? path).toLowerCase(),
    expand: (text) =>
      outsideFences(text, (part) => definitionLists(expandMdnMacros(part))).replaceAll(
        "\\{{",
        "{{",
      ),
  },
  opensearch: {
    name: "OpenSearch Documentation",
    root: "",
    id: (path) => path.toLowerCase(),
    expand: expandLiquid,
  },
  "rust-book": {
    name: "The Rust Programming Language",
    root: "src",
    id: (path) => path.toLowerCase(),
    expand: expandMdBook,
  },
};

const FENCE = /^[ \t>]*(?:[-*] +)?(`{3,}|~{3,})/;
const markdown = new MarkdownIt({ html: true });

/** Applies `change` to the runs of lines outside fenced code. */
export function outsideFences(text, change) {
  const out = [];
  let run = [];
  let fence = "";
  const flush = () => {
    if (run.length > 0) out.push(fence ? run.join("\n") : change(run.join("\n")));
    run = [];
  };
  for (const line of text.split("\n")) {
    const marker = FENCE.exec(line)?.[1];
    if (!fence && marker) {
      flush();
      fence = marker;
      run.push(line);
    } else if (fence && marker?.startsWith(fence) && line.trimEnd().endsWith(marker)) {
      run.push(line);
      flush();
      fence = "";
    } else {
      run.push(line);
    }
  }
  flush();
  return out.join("\n");
}

/** MDN writes `- term` with `- : definition` below it; callouts open with `[!NOTE]`. */
function definitionLists(text) {
  return text
    .replace(/^(\s*)- : /gm, "$1- ")
    .replace(/^(\s*> )\[!(\w)(\w*)\]$/gm, (_, mark, first, rest) => {
      return `${mark}**${first}${rest.toLowerCase()}:**`;
    });
}

function splitFrontMatter(source) {
  const found = /^---\r?\n([\s\S]*?)\r?\n---\r?\n?/.exec(source);
  if (!found) return { matter: {}, body: source };
  return { matter: parseYaml(found[1]) ?? {}, body: source.slice(found[0].length) };
}

/** The text that a heading shows, without its marks. */
function headingText(inline) {
  const parts = (inline.children ?? [])
    .filter(({ type }) => type === "text" || type === "code_inline" || type === "softbreak")
    .map(({ type, content }) => (type === "softbreak" ? " " : content));
  return parts.join("").trim();
}

/** Gives headings ids by GitHub's rules, and the page a title and exactly one first heading. */
function arrangeHeadings(tokens, title) {
  const slugger = new GithubSlugger();
  const headings = tokens.flatMap((token, at) => (token.type === "heading_open" ? [at] : []));
  const promoted = title === undefined && headings.length > 0;
  const top = headings.find((at) => tokens[at].tag === "h1");
  if (promoted && top === undefined) setLevel(tokens, headings[0], 1);
  for (const at of headings) {
    const text = headingText(tokens[at + 1]);
    tokens[at].attrSet("id", slugger.slug(text) || "section");
  }
  const first = headings.find((at) => tokens[at].tag === "h1");
  if (first === undefined) return { hasFirst: false, heading: undefined };
  return { hasFirst: true, heading: headingText(tokens[first + 1]) };
}

function setLevel(tokens, at, level) {
  tokens[at].tag = `h${level}`;
  tokens[at + 2].tag = `h${level}`;
}

/** One page: its HTML and its id. */
export function renderPage(siteName, path, source) {
  const site = SITES[siteName];
  const { matter, body } = splitFrontMatter(source);
  const tokens = markdown.parse(site.expand(body), {});
  const given = matter.title === undefined ? undefined : String(matter.title);
  const { hasFirst, heading } = arrangeHeadings(tokens, given);
  const title = given ?? heading ?? path;
  const content = markdown.renderer.render(tokens, markdown.options, {});
  const first = hasFirst ? "" : `<h1>${escapeHtml(title)}</h1>\n`;
  return { id: site.id(path, matter), html: frame(site.name, path, title, first + content) };
}

function frame(name, path, title, content) {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)}</title>
</head>
<body>
<nav><a href="/">${escapeHtml(name)}</a>${crumbs(path)}</nav>
<main>
${content}</main>
</body>
</html>
`;
}

function crumbs(path) {
  const parents = path.split("/").slice(0, -1);
  return parents
    .map(
      (part, at) => ` / <a href="/${parents.slice(0, at + 1).join("/")}/">${escapeHtml(part)}</a>`,
    )
    .join("");
}

/** `_aggregations/bucket/index.md` → `aggregations/bucket`. */
export function pagePath(siteName, file) {
  const plain = file.split(sep).join("/").replace(/\.md$/, "");
  const named = siteName === "opensearch" ? plain.replace(/^_/, "") : plain;
  return named.replace(/\/index$/, "");
}

function markdownFiles(folder) {
  return readdirSync(folder, { recursive: true })
    .filter((name) => name.endsWith(".md"))
    .sort();
}

/** Renders the whole site; returns address → id. */
export function renderSite(siteName, folder, out) {
  const site = SITES[siteName];
  if (!site) throw new Error(`no site ${siteName}; there are ${Object.keys(SITES).join(", ")}`);
  const root = join(folder, site.root);
  const pages = {};
  rmSync(out, { recursive: true, force: true });
  for (const file of markdownFiles(root)) {
    const path = pagePath(siteName, file);
    const { id, html } = renderPage(siteName, path, readFileSync(join(root, file), "utf8"));
    const target = join(out, path, "index.html");
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, html);
    pages[`/${relative(out, dirname(target)).split(sep).join("/")}/`] = id;
  }
  if (Object.keys(pages).length === 0) throw new Error(`no Markdown in ${root}`);
  writeFileSync(`${out}.pages.json`, `${JSON.stringify(pages, null, 1)}\n`);
  return pages;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [siteName, folder, out] = process.argv.slice(2);
  if (!out) throw new Error("usage: node render.js mdn|opensearch|rust-book FOLDER OUT");
  const pages = renderSite(siteName, folder, out);
  process.stderr.write(`${siteName}: ${Object.keys(pages).length} pages in ${out}\n`);
}
