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
  stopped: string;
  /** For a question that holds no word; where it is absent, the engine's own message is shown. */
  wordless?: string;
  /** Likewise for a browser or a bundle that lacks what was asked for. */
  unsupported?: string;
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
