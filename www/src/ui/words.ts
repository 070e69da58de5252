/** All that the box says, in one language. `{n}` stands for a number, `{q}` for what was asked. */
export interface Words {
  /** The sign before and the sign after what is quoted. */
  quotes: string;
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
