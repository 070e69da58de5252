import type { Match, Result } from "../api.js";
import { resultUrl } from "./address.js";
import { highlight } from "./highlight.js";
import { element } from "./nodes.js";

/** Characters of a title, heading or excerpt that are shown. */
const MAXIMUM_CHARACTERS = 600;

/** Pairs of words shown below a result as the reason for it. */
const MAXIMUM_REASONS = 3;

/** One option of the list: a real link, named by its own content. */
export function resultOption(result: Result, index: number, site: URL): HTMLElement {
  const href = resultUrl(result.url, site);
  const option = element(
    "a",
    {
      role: "option",
      id: `option-${index}`,
      part: "result",
      tabindex: "-1",
      "aria-selected": "false",
    },
    line("title", result.title, result.matches),
  );
  if (href !== undefined) option.href = href;
  if (result.heading !== "" && result.heading !== result.title) {
    option.append(line("heading", result.heading, result.matches));
  }
  option.append(line("excerpt", result.excerpt, result.matches));
  const reasons = meaningLine(result.matches);
  if (reasons !== undefined) option.append(reasons);
  return option;
}

/** `dir="auto"` keeps a right-to-left text, and its overrides, inside its own line. */
function line(name: string, text: string, matches: Match[]): HTMLElement {
  const node = element("span", { class: name, part: name, dir: "auto" });
  for (const segment of highlight(cut(text), matches)) {
    node.append(
      segment.kind === undefined
        ? segment.text
        : element("mark", { class: segment.kind, part: "mark" }, segment.text),
    );
  }
  return node;
}

function meaningLine(matches: Match[]): HTMLElement | undefined {
  const pairs = matches
    .filter((match) => match.kind === "meaning" && match.query !== "" && match.text !== "")
    .slice(0, MAXIMUM_REASONS)
    .map((match) => element("span", { class: "reason" }, `${match.query} ≈ ${match.text}`));
  return pairs.length === 0 ? undefined : element("span", { class: "reasons" }, ...pairs);
}

function cut(text: string): string {
  const characters = Array.from(text.slice(0, 2 * MAXIMUM_CHARACTERS));
  if (characters.length <= MAXIMUM_CHARACTERS) return characters.join("");
  return `${characters.slice(0, MAXIMUM_CHARACTERS).join("")}…`;
}
