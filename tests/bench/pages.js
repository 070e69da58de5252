/** What a site's pages say, for the engines that are given texts instead of a folder. */
import { readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { Parser } from "htmlparser2";

const SILENT = new Set(["script", "style", "nav", "head", "svg", "template"]);
const INLINE = new Set(
  "a abbr b bdi code em i kbd mark s small span strong sub sup u var".split(" "),
);
const HEADING = /^h[1-6]$/;

/** Title, headings and text of one page. */
export function readPage(html) {
  const page = { title: "", headings: [], text: "" };
  const open = [];
  const silent = () => open.some((name) => SILENT.has(name));
  const parser = new Parser({
    onopentag(name) {
      open.push(name);
      if (HEADING.test(name)) page.headings.push("");
      if (!INLINE.has(name)) page.text += "\n";
    },
    ontext(text) {
      if (open.at(-1) === "title" && open.includes("head")) page.title += text;
      if (silent()) return;
      page.text += text;
      if (open.some((name) => HEADING.test(name))) page.headings[page.headings.length - 1] += text;
    },
    onclosetag(name) {
      open.pop();
      if (!INLINE.has(name)) page.text += "\n";
    },
  });
  parser.end(html);
  return {
    title: squeeze(page.title),
    headings: page.headings.map(squeeze).join("\n"),
    text: squeeze(page.text),
  };
}

function squeeze(text) {
  return text.replace(/\s+/g, " ").trim();
}

/** Every page of the site in `folder`, in the order of addresses. */
export function readSite(folder) {
  const files = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(".html"));
  return files.sort().map((file) => ({
    url: address(file),
    ...readPage(readFileSync(join(folder, file), "utf8")),
  }));
}

/** `a/index.html` → `/a/`. */
export function address(file) {
  return `/${file
    .split(sep)
    .join("/")
    .replace(/(^|\/)index\.html$/, "$1")}`;
}
