/** The macros of MDN's and OpenSearch's Markdown, turned into what a reader sees of them. */

/** Macros that stand for boxes, side bars and generated tables: nothing remains of them. */
const BOXES = new Set(
  `addonsidebar apilistalpha apiref availableinworkers compat cssinfo csssyntax csssyntaxraw
  defaultapisidebar deprecated_header embedghlivesample embedlivesample embedyoutube
  glossarydisambiguation inheritancediagram interactiveexample js_property_attributes listgroups
  listsubpages listsubpagesforsidebar next nextmenu non-standard_header previous previousmenu
  previousmenunext previousnext quicklinkswithsubpages securecontext_header securecontext_inline
  seecompattable specifications subpageswithsummaries svginfo webextallcompattables
  webextallexamples webextexamples`.split(/\s+/),
);

const BADGES = {
  optional_inline: "Optional",
  readonlyinline: "Read only",
  experimental_inline: "Experimental",
  deprecated_inline: "Deprecated",
  "non-standard_inline": "Non-standard",
};

/** Macros that name an identifier. */
const CODE = new Set(
  "domxref cssxref jsxref jsref webextapiref httpheader httpmethod svgattr csp".split(" "),
);
/** Macros that name an element of HTML, SVG or MathML. */
const ELEMENTS = new Set(["htmlelement", "svgelement", "mathmlelement"]);

const STRING = String.raw`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'`;
const MACRO = new RegExp(
  String.raw`(\\?)\{\{\s*([\w-]+)\s*(?:\(((?:${STRING}|[^"'()])*)\))?\s*\}\}`,
  "g",
);
const ARGUMENT = new RegExp(`${STRING}|[^,\\s][^,]*`, "g");

/** Replaces the macros in a piece of MDN's Markdown that holds no fenced code.
 *
 * What looks like a macro but is escaped, or is none of MDN's, stays as it is. */
export function expandMdnMacros(text) {
  return text.replace(MACRO, (whole, escaped, name, args) => {
    if (escaped) return whole.slice(1);
    return expansion(name.toLowerCase(), parseArguments(args ?? "")) ?? whole;
  });
}

function expansion(name, args) {
  if (BOXES.has(name)) return "";
  if (name in BADGES) return BADGES[name];
  const shown = args[1] || args[0];
  if (shown === undefined) return undefined;
  if (ELEMENTS.has(name)) return code(args[1] || `<${args[0]}>`);
  if (name === "rfc") return `RFC ${args[0]}${args[1] ? `, ${args[1]}` : ""}`;
  if (name === "jsxref" && !args[1]) return code(dotted(args[0]));
  return CODE.has(name) ? code(shown) : escapeHtml(shown);
}

/** `Global_Objects/Array/map` is read as `Array.map`. */
function dotted(path) {
  return path.replace(/^Global_Objects\//, "").replaceAll("/", ".");
}

function parseArguments(text) {
  return (text.match(ARGUMENT) ?? []).map((argument) => {
    const value = argument.trim();
    return /^["']/.test(value) ? value.slice(1, -1).replace(/\\(.)/g, "$1") : value;
  });
}

/** HTML, not backquotes: it is read inside HTML tables as well, and Markdown leaves it alone. */
function code(text) {
  const literal = escapeHtml(text).replace(
    /[*_[\]|`~\\]/g,
    (letter) => `&#${letter.charCodeAt(0)};`,
  );
  return `<code>${literal}</code>`;
}

/** Jekyll's tags: code that is captured for an include becomes fenced code, the rest goes. */
export function expandLiquid(text) {
  return text
    .replace(/\{%-?\s*comment\s*-?%\}[\s\S]*?\{%-?\s*endcomment\s*-?%\}/g, "")
    .replace(/\{%-?\s*capture\s+(\w+)\s*-?%\}([\s\S]*?)\{%-?\s*endcapture\s*-?%\}/g, captured)
    .replace(/\{%-?\s*(?:end)?raw\s*-?%\}/g, "")
    .replace(/\{%[\s\S]*?%\}/g, "")
    .replace(/\{\{\s*site\.(?:url|baseurl)\s*\}\}/g, "")
    .replace(/\{\{\s*(?:site|page)\.[\w.]+\s*\}\}/g, "")
    .replace(/^[ \t]*\{:[^}\n]*\}[ \t]*$/gm, "")
    .replace(/\{:[^}\n]*\}/g, "");
}

function captured(_, name, content) {
  return `\n\`\`\`${name.endsWith("python") ? "python" : "json"}\n${content.trim()}\n\`\`\`\n`;
}

/** mdBook: listings become figures with captions; included files are not at hand. */
export function expandMdBook(text) {
  return text
    .replace(/^.*\{\{#\w+ [^}]*\}\}.*\n?/gm, "")
    .replace(/^[ \t]*```[^`\n]*\n\s*```[ \t]*$/gm, "")
    .replace(/<Listing\b((?:[^>"]|"[^"]*")*)>/g, (_, attributes) => {
      const { number, caption, "file-name": file } = parseAttributes(attributes);
      const label = number ? `Listing ${number}` : "";
      const parts = [file && `Filename: ${file}`, [label, caption].filter(Boolean).join(": ")];
      return `\n\n${parts.filter(Boolean).join("\n\n")}\n\n`;
    })
    .replace(/<\/Listing>/g, "\n\n");
}

function parseAttributes(text) {
  return Object.fromEntries([...text.matchAll(/([\w-]+)="([^"]*)"/g)].map((m) => [m[1], m[2]]));
}

export function escapeHtml(text) {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
