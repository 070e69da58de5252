import assert from "node:assert/strict";
import { test } from "node:test";
import { RecentSearches, type Store } from "../../src/ui/recent.js";

function memory(kept: Record<string, string> = {}): Store & { kept: Record<string, string> } {
  return {
    kept,
    getItem: (key) => kept[key] ?? null,
    setItem: (key, value) => {
      kept[key] = value;
    },
    removeItem: (key) => {
      delete kept[key];
    },
  };
}

test("the latest search comes first, each once, ten at most", () => {
  const store = memory();
  const recent = new RecentSearches(() => store);
  for (let number = 0; number < 12; number++) recent.add(`search ${number}`);
  recent.add("search 5");
  const searches = recent.read();
  assert.equal(searches.length, 10);
  assert.deepEqual(searches.slice(0, 3), ["search 5", "search 11", "search 10"]);
  assert.equal(new Set(searches).size, 10);
});

test("clearing leaves nothing in the store", () => {
  const store = memory();
  const recent = new RecentSearches(() => store);
  recent.add("x");
  recent.clear();
  assert.deepEqual(store.kept, {});
  assert.deepEqual(recent.read(), []);
});

test("what others have written there is ignored, as is a store that is refused", () => {
  for (const kept of ["", "{", "{}", "7", JSON.stringify([7, null, " ", "y".repeat(9999)])]) {
    assert.deepEqual(new RecentSearches(() => memory({ "siskin-recent": kept })).read(), []);
  }
  const refused = new RecentSearches(() => {
    throw new Error("refused");
  });
  refused.add("x");
  refused.clear();
  assert.deepEqual(refused.read(), []);
});
