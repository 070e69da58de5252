import type { Match } from "../api.js";
import { fold } from "./highlight.js";
import { UNSPACED } from "./scripts.js";

/** What of a question is in a passage. */
export interface Why {
  /** Words of the question that are there; where it is in another form, with that one. */
  words: string[];
  /** Pairs of a word of the question and the one of like meaning that is there instead. */
  meanings: string[];
  /** Words of the question that had no part in it: they are not there, or too common to be looked for. */
  absent: string[];
}

/** Tells apart what `matches` say of `question`. */
export function whyOf(question: string, matches: Match[]): Why {
  const of = (kind: Match["kind"]) =>
    matches.filter((match) => match.kind === kind && match.query !== "" && match.text !== "");
  const known = matches.map(({ query }) => fold(query)).filter((query) => query !== "");
  const known_words = new Set(known.flatMap(wordsOf));
  const isKnown = (word: string) =>
    known_words.has(word) || (UNSPACED.test(word) && known.some((query) => overlaps(word, query)));
  return {
    words: unique(of("word").map(({ query, text }) => withForm(query, text))),
    meanings: pairsOf(matches),
    absent: unique(wordsOf(question).filter((word) => !isKnown(fold(word)))),
  };
}

/** Words of like meaning, as pairs. */
export function pairsOf(matches: Match[]): string[] {
  return matches
    .filter(({ kind, query, text }) => kind === "meaning" && query !== "" && text !== "")
    .map(({ query, text }) => `${query} ≈ ${text}`);
}

function withForm(query: string, text: string): string {
  return fold(query) === fold(text) ? query : `${query} (${text})`;
}

let segmenter: Intl.Segmenter | undefined;

function wordsOf(text: string): string[] {
  // Firefox has none before 125.
  if (!("Segmenter" in Intl)) return text.match(/[\p{L}\p{N}_]+/gu) ?? [];
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "word" });
  return [...segmenter.segment(text)]
    .filter(({ isWordLike }) => isWordLike)
    .map(({ segment }) => segment);
}

function overlaps(one: string, other: string): boolean {
  return one.includes(other) || other.includes(one);
}

function unique(items: string[]): string[] {
  return [...new Set(items)];
}
