import type { Match } from "../api.js";
import { UNSPACED, UNSPACED_RUNS } from "./scripts.js";

/** A stretch of text, and the kind of match that it is, if any. */
export interface Segment {
  text: string;
  kind?: Match["kind"];
}

/** Endings by which two forms of an English word may differ (`sharing` marks `share`, `shared`). */
const ENDINGS = new Set(["", "s", "es", "e", "d", "ed", "r", "er", "ers", "ing", "ings", "ly"]);

/** Letters at the beginning that two forms of a word must have in common. */
const MINIMUM_STEM = 3;

/** Cuts `text` into stretches that are a match of `matches` and stretches that are not. */
export function highlight(text: string, matches: Match[]): Segment[] {
  const segments: Segment[] = [];
  const wanted = matches.map(({ kind, text }) => ({ kind, folded: fold(text) }));
  const kindOf = (part: string) => {
    const word = fold(part);
    return wanted.find(({ folded }) => isForm(word, folded))?.kind;
  };
  // The strongest is marked last, over the others.
  const pairs = matches.filter(({ text }) => UNSPACED.test(text)).reverse();
  for (const part of text.split(pattern(matches))) {
    const kind = kindOf(part);
    if (kind !== undefined) append(segments, part, kind);
    else {
      for (const [place, piece] of part.split(UNSPACED_RUNS).entries()) {
        if (place % 2 === 0) append(segments, piece, kindOf(piece));
        else markPairs(segments, piece, pairs);
      }
    }
  }
  return segments;
}

const LETTER = "[\\p{L}\\p{M}\\p{N}_]";
const WORD = new RegExp(`(${LETTER}+)`, "u");
const NO_LETTER = /[^\p{L}\p{M}\p{N}_]/u;

/** Finds matched texts that are more than a word (`Vec::push`, `--release`), and words. */
function pattern(matches: Match[]): RegExp {
  const verbatim = matches.map((match) => match.text).filter((text) => NO_LETTER.test(text));
  // Made anew for every line it would cost more than the search.
  if (verbatim.length === 0) return WORD;
  const escaped = verbatim.map((text) => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"));
  return new RegExp(`(${[...escaped, `${LETTER}+`].join("|")})`, "iu");
}

/** Marks what `pairs` cover of writing without blanks; they overlap. */
function markPairs(segments: Segment[], run: string, pairs: Match[]): void {
  const kinds = new Array<Segment["kind"]>(run.length);
  for (const { kind, text } of pairs) {
    for (let at = run.indexOf(text); at !== -1; at = run.indexOf(text, at + 1)) {
      kinds.fill(kind, at, at + text.length);
    }
  }
  let start = 0;
  for (let end = 1; end <= run.length; end++) {
    if (end < run.length && kinds[end] === kinds[start]) continue;
    append(segments, run.slice(start, end), kinds[start]);
    start = end;
  }
}

function isForm(word: string, other: string): boolean {
  if (word === other) return true;
  let common = 0;
  while (common < word.length && word[common] === other[common]) common += 1;
  const endings = [word.slice(common), other.slice(common)];
  return common >= MINIMUM_STEM && endings.every((ending) => ENDINGS.has(ending));
}

/** `text` without what tells forms of a letter apart: case, accents, width. */
export function fold(text: string): string {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}

function append(segments: Segment[], text: string, kind: Segment["kind"]): void {
  const last = segments.at(-1);
  if (text === "") return;
  if (last !== undefined && kind === undefined && last.kind === undefined) last.text += text;
  else segments.push(kind === undefined ? { text } : { text, kind });
}
