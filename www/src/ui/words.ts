import type { Mode } from "../api.js";

/** All that the box says, in one language. `{n}` stands for a number, `{q}` for what was asked. */
export interface Words {
  /** Around what is quoted. */
  quotes: [before: string, after: string];
  /** By the plural categories of the language. */
  results: { [category in Intl.LDMLPluralRule]?: string } & { other: string };
  none: string;
  hint: string;
  near: string;
  loading: string;
  network: string;
  unreachable: string;
  damaged: string;
  /** Above the results of those bundles, of several, that could answer. */
  partial: string;
  stopped: string;
  /** For a question that holds no word; where it is absent, the engine's own message is shown. */
  wordless?: string;
  /** Likewise for a browser or a bundle that lacks what was asked for. */
  unsupported?: string;
  /** On the button that shows for each result why it is there. */
  why: string;
  /** Words of the question that are in a result. */
  found: string;
  /** Pairs of words of like meaning. */
  alike: string;
  /** Words that had no part in a result. */
  absent: string;
  /** Of a result with neither words nor pairs. */
  whole: string;
  /** How an answer was found, by its mode. */
  modes: Record<Mode, string>;
  retry: string;
  more: string;
  recent: string;
  clear: string;
  close: string;
}

/** Languages that are written from right to left. */
const RIGHT_TO_LEFT = ["ar", "he"];

/** Where lines begin in a language. */
export function directionOf(language: string): "rtl" | "ltr" {
  return RIGHT_TO_LEFT.includes(language) ? "rtl" : "ltr";
}
