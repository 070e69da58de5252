/** The catalogue of every language. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { MODES } from "../../src/api.js";
import { languageOf, nameIn } from "../../src/ui/language.js";
import { Phrases } from "../../src/ui/phrases.js";
import ar from "../../src/ui/words/ar.js";
import de from "../../src/ui/words/de.js";
import en from "../../src/ui/words/en.js";
import es from "../../src/ui/words/es.js";
import fr from "../../src/ui/words/fr.js";
import he from "../../src/ui/words/he.js";
import it from "../../src/ui/words/it.js";
import ja from "../../src/ui/words/ja.js";
import ko from "../../src/ui/words/ko.js";
import nl from "../../src/ui/words/nl.js";
import pl from "../../src/ui/words/pl.js";
import pt from "../../src/ui/words/pt.js";
import ru from "../../src/ui/words/ru.js";
import zh from "../../src/ui/words/zh.js";
import { directionOf, type Words } from "../../src/ui/words.js";

const LANGUAGES: Record<string, Words> = { ar, de, en, es, fr, he, it, ja, ko, nl, pl, pt, ru, zh };

/** What stands in braces in each sentence that has places. */
const PLACES: [keyof Words, string][] = [
  ["none", "{q}"],
  ["near", "{q}"],
  ["found", "{q}"],
  ["alike", "{q}"],
  ["absent", "{q}"],
  ["network", "{n}"],
];

for (const [language, words] of Object.entries(LANGUAGES)) {
  test(`${language}: every sentence is there, with its places`, () => {
    assert.equal(languageOf(language), language);
    assert.notEqual(nameIn(language), "");
    for (const text of Object.values(words)) assert.notEqual(text, "");
    assert.deepEqual(Object.keys(words.modes), MODES);
    assert.equal(new Set(Object.values(words.modes)).size, MODES.length);
    for (const [name, place] of PLACES) assert.ok(String(words[name]).includes(place), name);
    const wanted = { ...words, wordless: "", unsupported: "" };
    assert.deepEqual(Object.keys(wanted).sort(), Object.keys({ ...de }).sort());
  });

  test(`${language}: every count has a form of its own category`, () => {
    const { pluralCategories } = new Intl.PluralRules(language).resolvedOptions();
    // Romance languages have `many` for millions, with the words of `other`.
    const needed = pluralCategories.filter(
      (category) => category !== "many" || needsMany(language),
    );
    for (const category of needed) {
      if (category !== "other" && !(language === "he" && category === "many")) {
        assert.ok(words.results[category], category);
      }
    }
    const phrases = new Phrases(words, language);
    for (const count of [0, 1, 2, 3, 5, 11, 21, 100]) {
      assert.match(phrases.resultCount(count, "siskin"), /siskin/);
    }
  });
}

function needsMany(language: string): boolean {
  return ["ar", "pl", "ru"].includes(language);
}

test("Slavic and Arabic plurals", () => {
  const count = (language: "pl" | "ru" | "ar", n: number) =>
    new Phrases(LANGUAGES[language] ?? en, language).resultCount(n, "x");
  assert.equal(count("ru", 21), "21 результат по запросу «x»");
  assert.equal(count("ru", 3), "3 результата по запросу «x»");
  assert.equal(count("pl", 12), "12 wyników dla „x”");
  assert.equal(count("ar", 2), "نتيجتان لـ «x»");
});

test("numbers are written as the language writes them", () => {
  assert.match(new Phrases(de, "de").resultCount(12345, "x"), /^12\.345 Ergebnisse für „x“$/);
  assert.match(new Phrases(fr, "fr").loadingNetwork(0.3), /30\s%$/);
});

test("Arabic and Hebrew begin at the right", () => {
  const right = Object.keys(LANGUAGES).filter((language) => directionOf(language) === "rtl");
  assert.deepEqual(right, ["ar", "he"]);
});
