import type { Match } from "../api.js";
import { highlight } from "./highlight.js";
import { element } from "./nodes.js";
import type { Line, Part, Row } from "./rows.js";

let option_count = 0;

/** One option of the list, empty: a real link, named by its own content. */
export function newOption(part: string): HTMLAnchorElement {
  return element("a", {
    role: "option",
    id: `option-${option_count++}`,
    class: part,
    part: part === "result" ? part : `result ${part}`,
    tabindex: "-1",
    "aria-selected": "false",
  });
}

/** Writes the row into its option. */
export function fill(option: HTMLAnchorElement, { href, lines, matches, reasons }: Row): void {
  if (href === undefined) option.removeAttribute("href");
  else option.href = href;
  option.replaceChildren(
    ...lines.map((line) => lineNode(line, matches)),
    ...reasons.map((parts) => reasonNode(parts)),
  );
}

/** `dir="auto"` keeps a right-to-left text, and its overrides, inside its own line. */
function lineNode({ name, text }: Line, matches: Match[]): HTMLElement {
  const node = element("span", { class: name, part: name, dir: "auto" });
  for (const segment of highlight(text, matches)) {
    node.append(
      segment.kind === undefined
        ? segment.text
        : element("mark", { class: segment.kind, part: "mark" }, segment.text),
    );
  }
  return node;
}

function reasonNode(parts: Part[]): HTMLElement {
  const nodes = parts.map(({ text, isWord }) =>
    isWord ? element("span", { class: "reason", dir: "auto" }, text) : text,
  );
  return element("span", { class: "reasons", part: "reasons" }, ...nodes);
}
