/** Tables of Markdown, made fit for the site: for markdown-it. */
export function tables(markdown) {
  // Wide tables scroll on their own, also by the keyboard.
  markdown.renderer.rules.table_open = () =>
    '<div class="table" role="group" aria-label="Table" tabindex="0"><table>\n';
  markdown.renderer.rules.table_close = () => "</table></div>\n";
  markdown.core.ruler.push("tables", ({ tokens }) => {
    tokens.forEach(alignByClass);
    tokens.forEach(leaveUnnamed);
  });
}

/** The site's content policy refuses styles in attributes, by which markdown-it aligns cells. */
function alignByClass(token) {
  const side = /^text-align:(\w+)$/.exec(token.attrGet("style") ?? "")?.[1];
  if (side !== undefined) token.attrs = [["class", side]];
}

/** A heading of a column that is empty names nothing: it is a cell. */
function leaveUnnamed(token, at, tokens) {
  if (token.type !== "th_open" || tokens[at + 1].content !== "") return;
  token.tag = "td";
  tokens[at + 2].tag = "td";
}
