import assert from "node:assert/strict";
import { test } from "node:test";
import { languageOf, nameIn } from "../../src/ui/language.js";
import { isShortcut, type Keys, shortcutHint } from "../../src/ui/shortcuts.js";
import { mediaOf, themeOf } from "../../src/ui/theme.js";

function keys(key: string, held: Partial<Keys> = {}): Keys {
  return { key, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, ...held };
}

test("Ctrl K, ⌘K and / are shortcuts, and what is near to them is not", () => {
  const isDefault = (pressed: Keys) => isShortcut(pressed, "ctrl+k /");
  assert.ok(isDefault(keys("k", { ctrlKey: true })));
  assert.ok(isDefault(keys("K", { metaKey: true })));
  assert.ok(isDefault(keys("/")));
  assert.ok(isDefault(keys("/", { shiftKey: true })), "as on German keyboards");
  for (const pressed of [
    keys("k"),
    keys("K", { ctrlKey: true, shiftKey: true }),
    keys("k", { ctrlKey: true, altKey: true }),
    keys("/", { ctrlKey: true }),
    keys(" "),
    keys(""),
  ]) {
    assert.ok(!isDefault(pressed), JSON.stringify(pressed));
  }
});

test("a page may have other shortcuts, or none", () => {
  assert.ok(isShortcut(keys("s", { altKey: true }), "Alt+S"));
  assert.ok(isShortcut(keys("P", { ctrlKey: true, shiftKey: true }), "f2 ctrl+shift+p"));
  assert.ok(!isShortcut(keys("/"), ""));
});

test("events without a key, as of browsers that fill in fields, are no shortcut", () => {
  for (const shortcuts of ["ctrl+k /", "", "undefined"]) {
    assert.ok(!isShortcut({ ...keys(""), key: undefined } as unknown as Keys, shortcuts));
    assert.ok(!isShortcut(keys(""), shortcuts));
  }
});

test("the hint is written as on the reader's keyboard", () => {
  assert.equal(shortcutHint("ctrl+k /", "Linux x86_64"), "Ctrl K");
  assert.equal(shortcutHint("ctrl+k /", "MacIntel"), "⌘K");
  assert.equal(shortcutHint("/", "Win32"), "/");
  assert.equal(shortcutHint("", "Win32"), "");
});

test("the element's theme comes before the page's, and that before the reader's", () => {
  assert.equal(themeOf("light", "dark", "dark"), "light");
  assert.equal(themeOf(undefined, "dark", ""), "dark");
  assert.equal(themeOf(undefined, undefined, "wide dark"), "dark");
  assert.equal(themeOf(undefined, "auto", "darkish not-dark dark-blue dark:bg-x"), undefined);
  assert.deepEqual(
    [mediaOf("dark"), mediaOf("light"), mediaOf(undefined)],
    ["all", "not all", "(prefers-color-scheme:dark)"],
  );
});

test("the language is the page's where the box speaks it, else English", () => {
  assert.equal(languageOf("de-CH"), "de");
  assert.equal(languageOf("ZH-Hans"), "zh");
  for (const tag of ["", "x", "xx", "eng", "e", "en-GB", "ch"]) assert.equal(languageOf(tag), "en");
  assert.equal(nameIn("de"), "Suche");
  assert.equal(nameIn("he"), "חיפוש");
});
