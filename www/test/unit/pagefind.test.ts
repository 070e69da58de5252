/** Pagefind's functions on a bundle that is not there: what is asked of it, and what is made of its
 * answers. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type {
  Answer,
  Condition,
  Match,
  QueryOptions,
  Result,
  Search,
  Section,
} from "../../src/api.js";
import { SearchError, type SearchErrorCode } from "../../src/errors.js";
import { addressOf, checkedBase } from "../../src/pagefind/address.js";
import { excerptOf } from "../../src/pagefind/excerpt.js";
import { addFacets, conditionOf, type Tags, tagsOf } from "../../src/pagefind/filters.js";
import { fragmentOf } from "../../src/pagefind/fragment.js";
import { Pagefind } from "../../src/pagefind/instance.js";
import type { FilterCounts } from "../../src/pagefind/shapes.js";

const HOSTILE = `<img src=x onerror=alert(1)> & "quotes" 'n' needle`;
const RULES = {
  address: { base: "/", highlight: "" },
  excerpt: { words: 30, ellipsis: "" },
};

function word(text: string): Match {
  return { kind: "word", query: text, text };
}

function section(url: string, heading: string, excerpt: string): Section {
  return { url, heading, excerpt, matches: [word("needle")] };
}

function result(url: string, ...sections: Section[]): Result {
  const shown = sections[0] ?? section(`${url}#first`, "First", "hay and a needle in it");
  return { ...shown, title: `Page ${url}`, score: 1, meta: {}, filters: [], sections };
}

/** What was asked of a bundle: its folder, the text and the options. */
type Question = [folder: string, text: string, options: QueryOptions];

/** Bundles of `total` pages each, `/0` and so on, that note what they are asked. */
class Bundles {
  readonly questions: Question[] = [];
  readonly opened: string[] = [];
  closed_count = 0;
  /** The filters that every page has. */
  readonly tags = tagsOf({ kind: "guide" });
  /** Codes with which the next calls fail: openings and questions. */
  readonly failures: (SearchErrorCode | undefined)[] = [];
  readonly #total: number;

  constructor(total: number) {
    this.#total = total;
  }

  pagefind(home = "https://a.example/docs/pagefind/"): Pagefind {
    return new Pagefind({
      home: new URL(home),
      bundle: "../siskin/",
      openBundle: async (runtime, folder) => {
        this.#fail();
        this.opened.push(`${runtime.href} ${folder.href}`);
        return this.#search(folder.href);
      },
    });
  }

  #search(folder: string): Search {
    return {
      query: async (text, options = {}) => this.#answer(folder, text, options),
      close: () => {
        this.closed_count += 1;
      },
      offline: Promise.resolve("unavailable"),
    };
  }

  #answer(folder: string, text: string, options: QueryOptions): Answer {
    this.questions.push([folder, text, options]);
    this.#fail();
    const { first = 0, limit = 10, mode = "table" } = options;
    const count = Math.max(0, Math.min(limit, this.#total - first));
    const results = Array.from({ length: count }, (_, at) => result(`/${first + at}`));
    const total = options.filter && !meets(options.filter, this.tags) ? 0 : this.#total;
    const facet = { filter: "kind", value: "guide", found: total, pages: this.#total };
    const facets = options.facets ? [facet] : [];
    return { query: text, mode, took_ms: 1.6, total, results, suggestions: [], facets };
  }

  #fail(): void {
    const code = this.failures.shift();
    if (code !== undefined) throw new SearchError(code, "as the test wants it");
  }

  /** First rank and number of the results asked for, question by question. */
  get ranges(): [number, number][] {
    return this.questions.map(([, , { first = 0, limit = 10 }]) => [first, limit]);
  }
}

test("a search asks once, for the first results and their sections", async () => {
  const bundles = new Bundles(7);
  const found = await bundles.pagefind().search("  a needle ");
  assert.deepEqual(bundles.questions, [
    [
      "https://a.example/docs/siskin/",
      "a needle",
      { mode: "table", facets: true, limit: 5, sections: 4 },
    ],
  ]);
  const { results, ...rest } = found;
  assert.equal(results.length, 7);
  assert.deepEqual(rest, {
    unfilteredResultCount: 7,
    filters: { kind: { guide: 7 } },
    totalFilters: { kind: { guide: 7 } },
    timings: [{ preload: 0, search: 2, total: 2 }],
  });
  assert.equal(new Set(results.map(({ id }) => id)).size, 7);
  assert.ok(results.every(({ score, words }) => score > 0 && words.length === 0));
});

test("what a list wants together is fetched together, once", async () => {
  const bundles = new Bundles(40);
  const { results } = await bundles.pagefind().search("needle");
  const wanted = [0, 4, 5, 6, 7, 11, 10, 5].map((rank) => results[rank]?.data());
  const urls = (await Promise.all(wanted)).map((fragment) => fragment?.raw_url);
  assert.deepEqual(urls, ["/0", "/4", "/5", "/6", "/7", "/11", "/10", "/5"]);
  await results[6]?.data();
  assert.deepEqual(bundles.ranges, [
    [0, 5],
    [5, 3],
    [10, 2],
  ]);
});

test("of many results only so many are promised", async () => {
  const { results } = await new Bundles(4000).pagefind().search("needle");
  assert.equal(results.length, 50);
  assert.equal((await results[49]?.data())?.raw_url, "/49");
});

test("a phrase in quotes is counted by reading", async () => {
  const bundles = new Bundles(3);
  await bundles.pagefind().search('"a needle"');
  assert.deepEqual(bundles.ranges, [[0, 50]]);
});

test("what is no question has no results, and is no failure", async () => {
  const bundles = new Bundles(3);
  const pagefind = bundles.pagefind();
  for (const term of [null, "", "  ", undefined as never, 7 as never]) {
    assert.deepEqual((await pagefind.search(term)).results, []);
  }
  assert.deepEqual(bundles.questions, []);
  bundles.failures.push(undefined, "query");
  const refused = await pagefind.search("?!");
  assert.deepEqual([refused.results, refused.unfilteredResultCount], [[], 0]);
});

test("a failure is told, and the next call tries again", async () => {
  const bundles = new Bundles(20);
  const pagefind = bundles.pagefind();
  bundles.failures.push("network", undefined, "network");
  await assert.rejects(pagefind.search("needle"), { code: "network" });
  await assert.rejects(pagefind.search("needle"), { code: "network" });
  const { results } = await pagefind.search("needle");
  assert.equal(bundles.opened.length, 1);
  bundles.failures.push("network");
  await assert.rejects(results[9]?.data() ?? Promise.resolve(), { code: "network" });
  assert.equal((await results[9]?.data())?.raw_url, "/9");
});

test("a search that has ended is opened again", async () => {
  const bundles = new Bundles(1);
  const pagefind = bundles.pagefind();
  bundles.failures.push(undefined, "internal");
  await assert.rejects(pagefind.search("needle"), { code: "internal" });
  await pagefind.search("needle");
  await pagefind.destroy();
  assert.equal(bundles.closed_count, 1);
  await pagefind.search("needle");
  assert.equal(bundles.opened.length, 3);
});

test("start and preload never reject, init and filters do", async () => {
  const bundles = new Bundles(1);
  const pagefind = bundles.pagefind();
  bundles.failures.push("network", "network", "network", "network");
  pagefind.start();
  await new Promise((resolve) => setTimeout(resolve, 0));
  await assert.rejects(pagefind.filters(), { code: "network" });
  await new Promise((resolve) => setTimeout(resolve, 0));
  await pagefind.preload("needle");
  await assert.rejects(pagefind.init(), { code: "network" });
});

test("of quick calls only the last is answered", async () => {
  const bundles = new Bundles(2);
  const pagefind = bundles.pagefind();
  const calls = ["n", "ne", "needle"].map((term) => pagefind.debouncedSearch(term, {}, 5));
  const [first, second, third] = await Promise.all(calls);
  assert.deepEqual([first, second, third?.results.length], [null, null, 2]);
  const texts = bundles.questions.map(([, text, { limit }]) => `${text} ${limit}`);
  assert.deepEqual(texts, ["n 1", "needle 5"], "one preload at a time, one search");
});

test("an answer that is overtaken is null", async () => {
  const pagefind = new Bundles(2).pagefind();
  const first = pagefind.debouncedSearch("first", {}, 0);
  const second = pagefind.debouncedSearch("second", {}, 0);
  assert.deepEqual([await first, (await second)?.results.length], [null, 2]);
});

test("options choose mode, addresses, marks and length", async () => {
  const bundles = new Bundles(1);
  const pagefind = bundles.pagefind();
  await pagefind.options({
    mode: "words",
    baseUrl: "https://b.example/x/",
    highlightParam: "h",
    excerptLength: 2,
    excerptEllipsis: "…",
    ranking: { pageLength: 1 },
  } as never);
  const { results } = await pagefind.search("big needle");
  const fragment = await results[0]?.data();
  assert.equal(bundles.questions[0]?.[2].mode, "words");
  assert.equal(fragment?.url, "https://b.example/x/0?h=big&h=needle");
  assert.equal(fragment.sub_results[0]?.url, "https://b.example/x/0?h=big&h=needle#first");
  assert.equal(fragment.excerpt, "…<mark>needle</mark> in…");
});

test("options of the wrong type or range have no effect", async () => {
  const bundles = new Bundles(1);
  const pagefind = bundles.pagefind();
  const wrong = { mode: "magic", baseUrl: 7, excerptLength: 0, indexWeight: -1, highlightParam: 1 };
  await pagefind.options(wrong as never);
  const { results } = await pagefind.search("needle");
  assert.equal(bundles.questions[0]?.[2].mode, "table");
  assert.deepEqual(
    results.map(({ score }) => score),
    [1],
  );
  assert.equal((await results[0]?.data())?.excerpt, "hay and a <mark>needle</mark> in it");
});

test("results begin with the folder above that of pagefind.js", async () => {
  const { results } = await new Bundles(1).pagefind().search("needle");
  const fragment = await results[0]?.data();
  assert.equal(fragment?.url, "https://a.example/docs/0");
  assert.equal(fragment.raw_url, "/0");
});

test("merged indexes are searched with this site's code and mixed by rank and weight", async () => {
  const bundles = new Bundles(3);
  const pagefind = bundles.pagefind();
  await pagefind.mergeIndex("https://b.example/pagefind", { indexWeight: 2, siskin: "../search" });
  await pagefind.mergeIndex("https://a.example/docs/pagefind/");
  const { results, unfilteredResultCount, timings } = await pagefind.search("needle");
  const fragments = await Promise.all(results.map((one) => one.data()));
  const hosts = fragments.map(({ url }) => new URL(url).host[0]);
  assert.equal(hosts.join(""), "babbaa");
  assert.deepEqual([unfilteredResultCount, timings.length], [6, 2]);
  assert.deepEqual(bundles.opened, [
    "https://a.example/docs/siskin/ https://b.example/search/",
    "https://a.example/docs/siskin/ https://a.example/docs/siskin/",
  ]);
});

test("an index that cannot be opened is not merged", async () => {
  const bundles = new Bundles(1);
  const pagefind = bundles.pagefind();
  bundles.failures.push("network");
  await assert.rejects(pagefind.mergeIndex("https://b.example/pagefind/"), { code: "network" });
  assert.equal((await pagefind.search("needle")).results.length, 1);
});

test("a filter leaves the indexes that mergeFilter gives it", async () => {
  const pagefind = new Bundles(2).pagefind();
  await pagefind.mergeIndex("https://b.example/pagefind/", { mergeFilter: { site: "b" } });
  const found = await pagefind.search("needle", { filters: { site: "b" } });
  assert.deepEqual(
    [found.results.length, found.unfilteredResultCount, found.filters, found.totalFilters],
    [2, 4, { kind: { guide: 2 }, site: { b: 2 } }, { kind: { guide: 4 }, site: { b: 2 } }],
  );
  const none = await pagefind.search("needle", { filters: { site: "c" } });
  assert.deepEqual(
    [none.results.length, none.unfilteredResultCount, none.filters, none.totalFilters],
    [0, 4, { kind: { guide: 0 }, site: { b: 0 } }, { kind: { guide: 4 }, site: { b: 2 } }],
  );
  const both = await pagefind.search("needle", { filters: { kind: "guide", site: { not: "b" } } });
  assert.deepEqual(
    (await Promise.all(both.results.map((result) => result.data()))).map(({ url }) => url),
    ["https://a.example/docs/0", "https://a.example/docs/1"],
  );
});

test("the filters of all indexes are told with the pages that have them", async () => {
  const pagefind = new Bundles(7).pagefind();
  await pagefind.mergeIndex("https://b.example/pagefind/", { mergeFilter: { site: "b" } });
  assert.deepEqual(await pagefind.filters(), { kind: { guide: 14 }, site: { b: 7 } });
});

test("without a term filters and a sort key list pages; the engine gets key and order", async () => {
  const bundles = new Bundles(3);
  const pagefind = bundles.pagefind();
  const listed = await pagefind.search(null, {
    filters: { kind: "guide" },
    sort: { date: "desc" },
  });
  assert.equal(listed.results.length, 3);
  assert.deepEqual(bundles.questions[0]?.slice(1), [
    "",
    {
      mode: "table",
      filter: { all: [{ filter: "kind", value: "guide" }] },
      sort: { key: "date", order: "descending" },
      facets: true,
      limit: 5,
      sections: 4,
    },
  ]);
  assert.equal((await pagefind.search(null, { sort: { date: "asc" } })).results.length, 3);
  assert.equal((await pagefind.search(null, { filters: {}, sort: {} })).results.length, 3);
  assert.equal((await pagefind.search(null)).results.length, 0);
});

/** Whether a page with `tags` meets a condition. */
function meets(condition: Condition, tags: Tags): boolean {
  if ("filter" in condition) return tags.get(condition.filter)?.includes(condition.value) ?? false;
  if ("all" in condition) return condition.all.every((part) => meets(part, tags));
  if ("none" in condition) return !condition.none.some((part) => meets(part, tags));
  return condition.any.length === 0 || condition.any.some((part) => meets(part, tags));
}

test("filters are read as Pagefind reads them", () => {
  const tags = tagsOf({ site: "A", language: ["x", "y"] });
  const passing: unknown[] = [
    {},
    null,
    [],
    { site: "A" },
    { site: [] },
    { site: null },
    { language: ["x", "y"] },
    { site: { any: ["A", "B"] } },
    { any: { site: "B", language: "x" } },
    { any: [] },
    { not: { site: "B" } },
    { site: { not: "B" } },
    { none: [{ site: "B" }, { language: "z" }] },
  ];
  const failing: unknown[] = [
    { site: "B" },
    { site: ["A", "B"] },
    { topic: "A" },
    { constructor: "A" },
    { site: "" },
    { all: [{ site: "A" }, { language: "z" }] },
    { any: { site: "B" } },
    { none: { site: "A" } },
    { site: { any: "B" } },
    { site: "A", language: "z" },
  ];
  const none: Tags = new Map();
  // Whether pages have a filter by themselves or by their index is the same.
  const passes = (filter: unknown) => {
    const own = meets(conditionOf(filter, none), tags);
    assert.equal(meets(conditionOf(filter, tags), none), own, JSON.stringify(filter));
    return own;
  };
  for (const filter of passing) assert.ok(passes(filter), JSON.stringify(filter));
  for (const filter of failing) assert.ok(!passes(filter), JSON.stringify(filter));
});

test("filters may be called what objects have of themselves", () => {
  const counts: FilterCounts = {};
  const facet = (filter: string, value: string) => ({ filter, value, found: 1, pages: 2 });
  const facets = ["constructor", "__proto__", "toString"].flatMap((name) => [
    facet("kind", name),
    facet(name, "keys"),
  ]);
  addFacets(counts, facets, ({ found }) => found);
  addFacets(counts, facets, ({ pages }) => pages);
  const kinds = Object.entries(counts.kind ?? {});
  assert.deepEqual(kinds, [
    ["constructor", 3],
    ["__proto__", 3],
    ["toString", 3],
  ]);
  assert.equal(Object.keys(counts).length, 4);
  assert.equal(typeof Object.keys, "function");
  assert.ok(!("keys" in {}));
});

test("nothing in a page becomes markup", () => {
  const hostile = result("/<x>", section("/a.html#<b>", HOSTILE, HOSTILE));
  const fragment = fragmentOf(hostile, RULES, HOSTILE);
  const escaped = "&lt;img src=x onerror=alert(1)&gt; &amp; &quot;quotes&quot; &#39;n&#39;";
  assert.equal(fragment.excerpt, `${escaped} <mark>needle</mark>`);
  assert.equal(fragment.plain_excerpt, `${escaped} needle`);
  assert.equal(fragment.raw_content, `${escaped} needle`);
  assert.equal(fragment.sub_results[0]?.excerpt, fragment.excerpt);
  assert.equal(fragment.sub_results[0]?.title, HOSTILE, "a title is text, here and with Pagefind");
  const ellipsis = excerptOf(["a", "b"], [], { words: 1, ellipsis: "<b>" });
  assert.equal(ellipsis.excerpt, "a&lt;b&gt;");
});

test("meanings are marked like words", () => {
  const matches: Match[] = [{ kind: "meaning", query: "car", text: "vehicle" }];
  const { excerpt } = excerptOf(["Two", "vehicles."], matches, RULES.excerpt);
  assert.equal(excerpt, "Two <mark>vehicles</mark>.");
});

test("an excerpt shows where most marks are", () => {
  const words = "needle a b c d e needle f needle g".split(" ");
  const { excerpt } = excerptOf(words, [word("needle")], { words: 3, ellipsis: "" });
  assert.equal(excerpt, "<mark>needle</mark> f <mark>needle</mark>");
});

test("the part above all headings comes first, then at most three sections", () => {
  const sections = ["a", "b", "c", "d"].map((name) =>
    section(`/p#${name}`, name, `${name} needle`),
  );
  const above = section("/p", "", "the needle needle");
  const fragment = fragmentOf(result("/p", ...sections.slice(0, 2), above), RULES, "needle");
  assert.deepEqual(
    fragment.sub_results.map(({ title, url, anchor }) => [title, url, anchor?.id]),
    [
      ["Page /p", "/p", undefined],
      ["a", "/p#a", "a"],
      ["b", "/p#b", "b"],
    ],
  );
  assert.equal(fragment.sub_results[0]?.url, fragment.url, "by which lists know it");
  assert.equal(fragmentOf(result("/p", ...sections), RULES, "x").sub_results.length, 3);
});

test("locations are those of marked words in the content", () => {
  const sections = [
    section("/p#a", "a", "one  needle\nmore"),
    section("/p#b", "b", "needles, two"),
  ];
  const fragment = fragmentOf(result("/p", ...sections), RULES, "needle");
  assert.equal(fragment.content, "one needle more needles, two");
  assert.deepEqual([fragment.word_count, fragment.locations], [5, [1, 3]]);
  assert.deepEqual(
    fragment.sub_results.map(({ locations }) => locations),
    [[1], [3]],
  );
  assert.deepEqual(
    fragment.anchors.map(({ location, text }) => [location, text]),
    [
      [0, "a"],
      [3, "b"],
    ],
  );
  assert.deepEqual(fragment.weighted_locations[1], { weight: 1, balanced_score: 1, location: 3 });
});

test("addresses lead below the base, or to http and https", () => {
  const cases: [base: string, url: string, address: string][] = [
    ["/", "/a.html#b", "/a.html#b"],
    ["/docs/", "/a/", "/docs/a/"],
    ["docs", "a", "/docs/a"],
    ["https://x.example", "/a?b#c//d", "https://x.example/a?b#c//d"],
    ["/", "https://y.example//a", "https://y.example//a"],
    ["/", "//evil.example/a", "/evil.example/a"],
    ["/", "/\\evil.example", "/evil.example"],
    ["/", "\t/\n/evil.example", "/evil.example"],
    ["/", "javascript:alert(1)", "/javascript:alert(1)"],
    ["javascript:alert(1)//", "/a", "/javascript:alert(1)/a"],
  ];
  for (const [base, url, address] of cases) {
    const rules = { base: checkedBase(base), highlight: "" };
    assert.equal(addressOf(url, rules, "x"), address);
  }
});

test("the words asked for are handed on, before the anchor", () => {
  const rules = { base: "/", highlight: "h" };
  assert.equal(addressOf("/a?b=1#c", rules, " x  y&z "), "/a?b=1&h=x&h=y%26z#c");
  assert.equal(addressOf("/a", rules, ""), "/a");
});

test("meta and filters of the page come with its data, and its picture from any page", () => {
  const { filters, meta } = fragmentOf(
    {
      ...result("/guide/a.html"),
      meta: { by: "Ada", image: "../b.png" },
      filters: [{ filter: "kind", value: "x" }],
    },
    RULES,
    "needle",
  );
  assert.deepEqual(filters, { kind: ["x"] });
  assert.deepEqual(meta, { title: "Page /guide/a.html", by: "Ada", image: "/b.png" });
  const image = (address: string) =>
    fragmentOf({ ...result("/a.html"), meta: { image: address } }, RULES, "").meta.image;
  assert.equal(image("https://c.example/d.png?e"), "https://c.example/d.png?e");
  assert.equal(image("//c.example/d.png"), "https://c.example/d.png");
  for (const unusable of ["javascript:alert(1)", "data:image/png;base64,A", "https://"]) {
    assert.equal(image(unusable), "", unusable);
  }
});
