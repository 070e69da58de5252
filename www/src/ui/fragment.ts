import type { Match } from "../api.js";
import { highlight } from "./highlight.js";

/** Words that a text fragment is made of: fewer may stand elsewhere too, more may not stand in one
 * piece on the page. */
const MINIMUM_WORDS = 3;
const MAXIMUM_WORDS = 6;

const MAXIMUM_CHARACTERS = 100;

/** What no fragment reaches over: where sentences end, the next words may be another block's. */
const END = /[.!?:;…。！？|•]/u;

interface Word {
  text: string;
  start: number;
}

/** The directive that leads a browser to the first match in `excerpt`, such as `:~:text=two%20words`,
 * or the empty string where no run of words around it is surely on the page as it stands here. */
export function textDirective(excerpt: string, matches: Match[]): string {
  const start = firstMatch(excerpt, matches);
  const sentence = start === undefined ? [] : sentenceAround(excerpt, start);
  const index = sentence.findIndex((word) => word.start + word.text.length > (start ?? 0));
  const run = runAround(sentence, index);
  const text = run.map((word) => word.text).join(" ");
  const is_sure = run.length >= MINIMUM_WORDS && text.length <= MAXIMUM_CHARACTERS;
  return is_sure ? `:~:text=${encode(text)}` : "";
}

function firstMatch(excerpt: string, matches: Match[]): number | undefined {
  let start = 0;
  for (const { text, kind } of highlight(excerpt, matches)) {
    if (kind !== undefined) return start;
    start += text.length;
  }
  return undefined;
}

/** The words of the sentence at `start`. */
function sentenceAround(excerpt: string, start: number): Word[] {
  const words = wholeWords(excerpt);
  const index = words.findIndex((word) => word.start + word.text.length > start);
  const at_start = words[index];
  if (at_start === undefined || at_start.start > start) return [];
  const isEnd = ({ text }: Word) => END.test(text);
  const first = words.slice(0, index).findLastIndex(isEnd) + 1;
  const length = words.slice(index).findIndex(isEnd);
  return words.slice(first, length === -1 ? words.length : index + length);
}

/** Those at the ends of an excerpt, or beside a sign that it was cut, may be parts of words: they are
 * left out. */
function wholeWords(excerpt: string): Word[] {
  const words = [...excerpt.matchAll(/\S+/gu)].map(({ 0: text, index }) => ({
    text,
    start: index,
  }));
  const from = words[0]?.text === "…" ? 2 : 1;
  const to = words.at(-1)?.text === "…" ? -2 : -1;
  return words.slice(from, to);
}

/** As many words as may be, from just before the one at `index`. */
function runAround(words: Word[], index: number): Word[] {
  if (index === -1) return [];
  const start = Math.max(0, Math.min(index - 1, words.length - MAXIMUM_WORDS));
  return words.slice(start, start + MAXIMUM_WORDS);
}

/** The signs that part a directive are encoded besides those of an address. */
function encode(text: string): string {
  return encodeURIComponent(text).replaceAll("-", "%2D");
}
