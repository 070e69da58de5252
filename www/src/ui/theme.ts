/** What decides whether the box is dark; undefined: the reader's own settings. */
export type Theme = "dark" | "light" | undefined;

/** The first theme that `choices`, each a value of `data-theme` or a list of classes, name. */
export function themeOf(...choices: (string | undefined)[]): Theme {
  return /(?<!\S)(dark|light)(?!\S)/.exec(choices.join(" "))?.[0] as Theme;
}

/** Where the dark colours hold. */
export function mediaOf(theme: Theme): string {
  return theme === undefined ? "(prefers-color-scheme:dark)" : theme === "dark" ? "all" : "not all";
}
