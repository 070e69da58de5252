/** Builds the site: `SISKIN_SITE_OUT=FOLDER npm run build`. */
import { cpSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import highlight from "@11ty/eleventy-plugin-syntaxhighlight";
import { slug } from "github-slugger";
import MarkdownIt from "markdown-it";
import anchor from "markdown-it-anchor";
import { figures } from "./figures.js";
import { REPOSITORY, repositoryLinks } from "./links.js";
import { GROUPS, PAGES } from "./pages.js";
import { tables } from "./tables.js";

const OUT = process.env.SISKIN_SITE_OUT;
if (!OUT) throw new Error("SISKIN_SITE_OUT is not set: it names the folder that becomes the site");

/** Pictures and data that pages link to. */
const published = new Set();

export default function (eleventy) {
  const markdown = markdownLibrary();
  eleventy.setLibrary("md", markdown);
  eleventy.addPlugin(highlight, { preAttributes: { tabindex: 0 } });
  eleventy.addPassthroughCopy({ "content/assets": "assets" });
  eleventy.addGlobalData("groups", GROUPS);
  eleventy.addGlobalData("figures", figures());
  checkThatAllArePages("docs");
  checkThatAllArePages("www/site/guides");
  for (const page of PAGES) addPage(eleventy, page, markdown);
  eleventy.on("eleventy.after", publish);
  return {
    dir: { input: "content", includes: "../layouts", output: relative(process.cwd(), OUT) },
    // Documents are Markdown alone: braces in them are text.
    markdownTemplateEngine: false,
  };
}

function markdownLibrary() {
  const markdown = new MarkdownIt({ html: true });
  const permalink = anchor.permalink.ariaHidden({
    class: "header-anchor",
    placement: "after",
    renderAttrs: () => ({ tabindex: -1 }),
  });
  markdown.use(anchor, { slugify: slug, permalink, level: [2, 3, 4] });
  markdown.use(repositoryLinks, published);
  markdown.use(tables);
  return markdown;
}

/** Fails where a document in the folder is no page. */
function checkThatAllArePages(folder) {
  for (const name of readdirSync(join(REPOSITORY, folder)).filter((file) => file.endsWith(".md"))) {
    const source = `${folder}/${name}`;
    if (PAGES.some((page) => page.source === source)) continue;
    throw new Error(`${source} is no page of the site: give it a place in www/site/pages.js`);
  }
}

/** A document of the repository as a page, with its title and the list of its sections. */
function addPage(eleventy, { source, url, title }, markdown) {
  const text = readFileSync(join(REPOSITORY, source), "utf8");
  const tokens = markdown.parse(text, { source });
  const headings = tokens.flatMap((token, at) =>
    token.type === "heading_open"
      ? [{ level: token.tag, id: token.attrGet("id"), text: plain(tokens[at + 1]) }]
      : [],
  );
  const first = tokens.findIndex(({ type }) => type === "paragraph_open");
  eleventy.addTemplate(`${url.slice(1, -1)}.md`, text, {
    layout: "document.njk",
    permalink: `${url}index.html`,
    source,
    name: title,
    title: headings.find(({ level }) => level === "h1")?.text ?? title,
    description: plain(tokens[first + 1]),
    sections: headings.filter(({ level }) => level === "h2"),
  });
}

/** The text that an inline token shows. */
function plain({ children }) {
  return children
    .filter(({ type }) => ["text", "code_inline", "softbreak"].includes(type))
    .map(({ type, content }) => (type === "softbreak" ? " " : content))
    .join("")
    .trim();
}

function publish() {
  for (const path of published) cpSync(join(REPOSITORY, path), join(OUT, path));
}
