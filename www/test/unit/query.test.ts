import assert from "node:assert/strict";
import { test } from "node:test";
import type { Condition, Mode, Sort } from "../../src/api.js";
import { asSearchError, SearchError, typedError } from "../../src/errors.js";
import { open } from "../../src/open.js";
import { folderUrl } from "../../src/places.js";
import { checkQuery } from "../../src/query.js";

test("options have defaults", () => {
  const defaults = { text: "x", mode: "table", first: 0, limit: 10, sections: 0 };
  assert.deepEqual(checkQuery("x", {}), defaults);
});

test("options out of range are refused by name", () => {
  for (const limit of [0, -1, 1.5, 101, Number.NaN]) {
    assert.throws(() => checkQuery("x", { limit }), { code: "query", message: /^limit is/ });
  }
  for (const first of [-1, 0.5, 2 ** 32]) {
    assert.throws(() => checkQuery("x", { first }), { code: "query", message: /^first is/ });
  }
  assert.throws(() => checkQuery("x", { sections: 11 }), {
    code: "query",
    message: "sections is 11; use a whole number from 0 to 10.",
  });
  assert.throws(() => checkQuery("x", { mode: "magic" as Mode }), {
    code: "query",
    message: "Unknown mode `magic`; use words, table or full.",
  });
  assert.throws(() => checkQuery(7 as unknown as string, {}), { code: "query" });
  assert.throws(() => checkQuery("x", { language: 7 as unknown as string }), /^SearchError: lang/);
});

test("conditions and orders are taken as they are, others refused", () => {
  const filter: Condition = { all: [{ filter: "a", value: "b" }, { none: [{ any: [] }] }] };
  const checked = checkQuery("x", { filter, sort: { key: "date" }, language: "de", facets: true });
  const { filter: same, sort, language, facets } = checked;
  assert.deepEqual(
    { same, sort, language, facets },
    { same: filter, sort: { key: "date", order: "ascending" }, language: "de", facets: true },
  );
  let deep: Condition = { all: [] };
  for (let depth = 1; depth < 16; depth++) deep = { any: [deep] };
  checkQuery("x", { filter: (deep as { any: Condition[] }).any[0] as Condition });
  const none = [null, "guide", [], {}, { filter: "a" }, { filter: "a", value: 1 }, { all: "b" }];
  // Which of two forms is meant, and how they belong together, is not said.
  const [a, b] = [
    { filter: "a", value: "b" },
    { filter: "a", value: "c" },
  ];
  const two = [
    { all: [a], none: [b] },
    { ...a, none: [b] },
    { all: null, any: [a] },
  ];
  for (const filter of [...none, ...two, { any: [{}] }, deep]) {
    const query = () => checkQuery("x", { filter: filter as Condition });
    assert.throws(query, { code: "query", message: /^filter has to/ }, JSON.stringify(filter));
  }
  for (const sort of [{}, { key: 1 }, { key: "a", order: "desc" }]) {
    assert.throws(() => checkQuery("x", { sort: sort as Sort }), { message: /^sort has to/ });
  }
});

test("what is passed on of a filter is plain, whatever it was", () => {
  const reactive = new Proxy({ all: [new Proxy({ filter: "a", value: "b" }, {})] }, {});
  const { filter } = checkQuery("x", { filter: reactive });
  assert.deepEqual(structuredClone(filter), { all: [{ filter: "a", value: "b" }] });
});

test("what wasm throws with a type keeps it, all else is internal", () => {
  assert.equal(asSearchError({ code: "query", message: "empty" }).message, "empty");
  assert.equal(typedError({ code: "unheard-of", message: "x" }), undefined);
  const trap = asSearchError(new WebAssembly.RuntimeError("unreachable"));
  assert.ok(trap instanceof SearchError);
  assert.equal(trap.code, "internal");
  assert.equal(asSearchError("panicked at x").message, "Siskin stopped: panicked at x");
});

test("folders are addresses that end in a slash", () => {
  const page = "https://site.example/docs/page.html";
  assert.equal(folderUrl("siskin?a#b", page).href, "https://site.example/docs/siskin/");
  assert.equal(folderUrl("..", "https://site.example/docs/siskin/").pathname, "/docs/");
});

test("what is no address is refused with a type", async () => {
  await assert.rejects(open("http://["), { code: "query", message: /^`http:\/\/\[` is not/ });
  assert.throws(() => folderUrl("..", "data:text/html,x"), { code: "query" });
});
