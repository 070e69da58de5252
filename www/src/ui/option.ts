import type { Match } from "../api.js";
import { highlight } from "./highlight.js";
import { element } from "./nodes.js";
import type { Line, Row } from "./rows.js";

/** Pairs of words shown below a result as the reason for it. */
const MAXIMUM_REASONS = 3;

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
export function fill(option: HTMLAnchorElement, { href, lines, matches }: Row): void {
  if (href === undefined) option.removeAttribute("href");
  else option.href = href;
  const reasons = lines.some(({ name }) => name === "excerpt") ? reasonsOf(matches) : [];
  option.replaceChildren(...lines.map((line) => lineNode(line, matches)), ...reasons);
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

function reasonsOf(matches: Match[]): HTMLElement[] {
  const pairs = matches
    .filter((match) => match.kind === "meaning" && match.query !== "" && match.text !== "")
    .slice(0, MAXIMUM_REASONS)
    .map(({ query, text }) =>
      element("span", { class: "reason", dir: "auto" }, `${query} ≈ ${text}`),
    );
  return pairs.length === 0
    ? []
    : [element("span", { class: "reasons", part: "reasons", dir: "auto" }, ...pairs)];
}
