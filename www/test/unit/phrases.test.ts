import assert from "node:assert/strict";
import { test } from "node:test";
import type { Match } from "../../src/api.js";
import { SearchError } from "../../src/errors.js";
import { Phrases } from "../../src/ui/phrases.js";
import type { Part } from "../../src/ui/rows.js";
import german from "../../src/ui/words/de.js";
import english from "../../src/ui/words/en.js";

const phrases = new Phrases(english, "en");

test("counts have their plural", () => {
  assert.equal(phrases.resultCount(1, "x"), "1 result for “x”");
  assert.equal(phrases.resultCount(1234, "x"), "1,234 results for “x”");
});

test("what is asked is put in as it stands, and long questions are cut", () => {
  assert.equal(phrases.resultCount(2, "$& {n}"), "2 results for “$& {n}”");
  assert.ok(phrases.noResults("x".repeat(2000), []).length < 200);
});

test("finding nothing names what may have been meant", () => {
  assert.equal(phrases.noResults("x", []), "No results for “x”. Try other or fewer words.");
  assert.equal(
    phrases.noResults("x", ["a", "b", "c", "d"]),
    "No results for “x”. Did you mean “a”, “b”, or “c”?",
  );
});

test("failures are told without files and checksums", () => {
  const told = (code: "network" | "late" | "version" | "query" | "internal") =>
    phrases.failure(new SearchError(code, "the message"));
  assert.match(told("network"), /connection/);
  assert.match(told("late"), /connection/);
  assert.match(told("version"), /out of date/);
  assert.equal(told("query"), "The message");
  assert.match(told("internal"), /stopped/);
});

const word = (query: string, text = query): Match => ({ kind: "word", query, text });
const near = (query: string, text: string): Match => ({ kind: "meaning", query, text });

function told(parts: Part[][]): string[] {
  return parts.map((line) =>
    line.map(({ text, isWord }) => (isWord ? `[${text}]` : text)).join(""),
  );
}

test("reasons tell words that are there, words of like meaning, and the others", () => {
  const matches = [word("sharing", "share"), word("Data", "data"), near("safely", "securely")];
  assert.deepEqual(told(phrases.reasons("How is sharing Data done safely?", matches, "table")), [
    "Found here: [sharing (share)], [Data]",
    "Alike in meaning: [safely ≈ securely]",
    "Not found here, or too common to look for: [How], [is], [done]",
  ]);
  const words = ["a", "b"].map((name) => word(name));
  assert.deepEqual(told(new Phrases(german, "de").reasons("a b", words, "words")), [
    "Hier gefunden: [a], [b]",
  ]);
});

test("a passage that shares no word with the question is near to it as a whole", () => {
  const [whole, absent] = told(phrases.reasons("cancel it", [], "table"));
  assert.match(whole ?? "", /as a whole$/);
  assert.match(absent ?? "", /: \[cancel\], \[it\]$/);
  const by_words = told(phrases.reasons("cancel it", [], "words"));
  assert.deepEqual(by_words, ["Not found here, or too common to look for: [cancel], [it]"]);
});

test("code, and writing without blanks, are taken apart as the engine does", () => {
  assert.deepEqual(told(phrases.reasons("use Vec::push", [word("Vec::push")], "table")).slice(1), [
    "Not found here, or too common to look for: [use]",
  ]);
  const pairs = ["スレ", "レッ", "ッド"].map((pair) => word(pair));
  const absent = told(phrases.reasons("スレッド安全", pairs, "full")).at(-1);
  assert.equal(absent, "Not found here, or too common to look for: [安全]");
});

test("browsers without Intl.Segmenter tell words apart too", () => {
  const { Segmenter } = Intl;
  Reflect.deleteProperty(Intl, "Segmenter");
  try {
    const reasons = told(phrases.reasons("use Rc in C++", [word("Rc")], "words"));
    assert.deepEqual(reasons, [
      "Found here: [Rc]",
      "Not found here, or too common to look for: [use], [in], [C]",
    ]);
  } finally {
    Object.assign(Intl, { Segmenter });
  }
});

test("of many words only some are told, and unasked only three pairs", () => {
  const many = Array.from({ length: 40 }, (_, number) => near(`q${number}`, `t${number}`));
  assert.equal(phrases.reasons("x", many, "table")[0]?.filter(({ isWord }) => isWord).length, 12);
  assert.equal(phrases.pairs(many)[0]?.filter(({ isWord }) => isWord).length, 3);
  assert.deepEqual(phrases.pairs([word("x")]), []);
});
