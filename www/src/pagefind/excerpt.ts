import type { Match } from "../api.js";
import { highlight } from "../ui/highlight.js";
import type { Excerpt } from "./shapes.js";

/** Of what length an excerpt is, and how its ends look. */
export interface ExcerptRules {
  /** Words, at least 1. */
  words: number;
  /** Plain text at each end that was cut. */
  ellipsis: string;
}

/** The words of a text as Pagefind counts them: what stands between white space. */
export function wordsOf(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}

/** Places of the words in which something of `matches` is marked. */
export function markedPlaces(words: string[], matches: Match[]): number[] {
  const marked: number[] = [];
  let place = 0;
  for (const { text, kind } of highlight(words.join(" "), matches)) {
    for (const [at, piece] of text.split(" ").entries()) {
      if (at > 0) place += 1;
      if (kind !== undefined && piece !== "" && marked.at(-1) !== place) marked.push(place);
    }
  }
  return marked;
}

/** The part of a text with the most marks, as HTML in which nothing of the text is markup. */
export function excerptOf(words: string[], matches: Match[], rules: ExcerptRules): Excerpt {
  const start = bestStart(words.length, markedPlaces(words, matches), rules.words);
  const end = start + rules.words;
  const text = words.slice(start, end).join(" ");
  const framed = (html: string) =>
    (start > 0 ? escapeHtml(rules.ellipsis) : "") +
    html +
    (end < words.length ? escapeHtml(rules.ellipsis) : "");
  const marked = highlight(text, matches).map(({ text, kind }) =>
    kind === undefined ? escapeHtml(text) : `<mark>${escapeHtml(text)}</mark>`,
  );
  return { excerpt: framed(marked.join("")), plain_excerpt: framed(escapeHtml(text)) };
}

/** Where the window of `length` words with the most marks begins; the first of equals. */
function bestStart(count: number, marked: number[], length: number): number {
  let best = { start: 0, marks: 0 };
  for (const place of [0, ...marked]) {
    const start = Math.max(0, Math.min(place, count - length));
    const marks = marked.filter((other) => other >= start && other < start + length).length;
    if (marks > best.marks) best = { start, marks };
  }
  return best.start;
}

const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** `text` as HTML, for elements and for attributes in quotes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign);
}
