import type { Match } from "../api.js";

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
  for (const part of text.split(pattern(matches))) {
    const word = fold(part);
    append(segments, part, wanted.find(({ folded }) => isForm(word, folded))?.kind);
  }
  return segments;
}

const WORD = /([\p{L}\p{N}_]+)/u;

/** Finds matched texts that are more than a word (`Vec::push`, `--release`), and words. */
function pattern(matches: Match[]): RegExp {
  const verbatim = matches
    .map((match) => match.text)
    .filter((text) => /[^\p{L}\p{N}_]/u.test(text));
  // Made anew for every line it would cost more than the search.
  if (verbatim.length === 0) return WORD;
  const escaped = verbatim.map((text) => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"));
  return new RegExp(`(${[...escaped, "[\\p{L}\\p{N}_]+"].join("|")})`, "iu");
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
