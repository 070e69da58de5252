import assert from "node:assert/strict";
import { test } from "node:test";
import { SearchError } from "../../src/errors.js";
import { Phrases } from "../../src/ui/phrases.js";
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
  const told = (code: "network" | "version" | "query" | "internal") =>
    phrases.failure(new SearchError(code, "the message"));
  assert.match(told("network"), /connection/);
  assert.match(told("version"), /out of date/);
  assert.equal(told("query"), "The message");
  assert.match(told("internal"), /stopped/);
});
