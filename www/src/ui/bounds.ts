import type { Match } from "../api.js";

/** Characters of a title, heading or excerpt that are shown. */
const MAXIMUM_CHARACTERS = 600;

/** Characters of a matched word, and matches, that are looked at. */
const MAXIMUM_WORD_CHARACTERS = 100;
const MAXIMUM_MATCHES = 50;

/** `text`, cut where it is longer than a reader would read. */
export function cut(text: string, maximum_characters = MAXIMUM_CHARACTERS): string {
  if (text.length <= maximum_characters) return text;
  // One more than is kept, at two units each: enough to see that there are more.
  const characters = Array.from(text.slice(0, 2 * (maximum_characters + 1)));
  if (characters.length <= maximum_characters) return characters.join("");
  return `${characters.slice(0, maximum_characters).join("")}…`;
}

/** The first of `matches`, each of them short enough to be looked for. */
export function cutMatches(matches: Match[]): Match[] {
  return matches
    .filter(({ text }) => text.length <= MAXIMUM_WORD_CHARACTERS)
    .slice(0, MAXIMUM_MATCHES)
    .map(({ kind, query, text }) => ({ kind, query: cut(query, MAXIMUM_WORD_CHARACTERS), text }));
}
