/** Keys that lead to the box where the page does not say others. */
export const DEFAULT_SHORTCUTS = "ctrl+k /";

/** The part of a `KeyboardEvent` that counts. */
export type Keys = Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey" | "shiftKey">;

/** Whether the keys are one of `shortcuts`: `ctrl` (or ⌘), `alt`, `shift` and a key, joined by `+`,
 * with blanks between shortcuts. Shift is part of a sign's key on many keyboards, so that it counts
 * with letters only. */
export function isShortcut(keys: Keys, shortcuts: string): boolean {
  // Browsers that fill in a field tell of keys that are none.
  if (!keys.key) return false;
  const key = keys.key.toLowerCase();
  const held =
    (keys.ctrlKey || keys.metaKey ? "ctrl+" : "") +
    (keys.altKey ? "alt+" : "") +
    (keys.shiftKey && key !== key.toUpperCase() ? "shift+" : "");
  return ` ${shortcuts} `.toLowerCase().includes(` ${held}${key} `);
}

/** How the first of `shortcuts` is written on the reader's keyboard: `Ctrl K`, `⌘K`, `/`. */
export function shortcutHint(shortcuts: string, platform: string): string {
  const [first = ""] = shortcuts.toUpperCase().split(" ");
  return first.replace("CTRL+", /Mac|iP/.test(platform) ? "⌘" : "Ctrl ");
}
