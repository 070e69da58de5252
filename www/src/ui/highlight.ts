import type { Match } from "../api.js";

/** A stretch of text, and the kind of match that it is, if any. */
export interface Segment {
  text: string;
  kind?: Match["kind"];
}

/** Letters that a word may have beyond a matched stem (`thread` marks `threads`, `threading`). */
const MAXIMUM_SUFFIX = 3;

/** Cuts `text` into stretches that are a match of `matches` and stretches that are not. */
export function highlight(text: string, matches: Match[]): Segment[] {
  const needles = matches.map(({ kind, text }) => ({ kind, word: fold(text) }));
  const segments: Segment[] = [];
  for (const part of text.split(/([\p{L}\p{N}_]+)/u)) {
    const word = fold(part);
    const found = needles.find((needle) => isForm(word, needle.word));
    append(segments, part, found?.kind);
  }
  return segments;
}

function isForm(word: string, stem: string): boolean {
  if (stem === "") return false;
  const suffix = word.length - stem.length;
  return word === stem || (stem.length > 3 && suffix <= MAXIMUM_SUFFIX && word.startsWith(stem));
}

function fold(text: string): string {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}

function append(segments: Segment[], text: string, kind: Segment["kind"]): void {
  const last = segments.at(-1);
  if (text === "") return;
  if (last !== undefined && kind === undefined && last.kind === undefined) last.text += text;
  else segments.push(kind === undefined ? { text } : { text, kind });
}
