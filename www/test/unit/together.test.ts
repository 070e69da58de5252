/** Several bundles as one: their results in one order, page by page, and what becomes of failures. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import type { Answer, Match, OpenOptions, QueryOptions, Result, Search } from "../../src/api.js";
import { SearchError, type SearchErrorCode } from "../../src/errors.js";
import { addedUp, mixed } from "../../src/mix.js";
import { type Member, openTogether } from "../../src/together.js";

/** A bundle that is not there: `total` pages, `/0` and so on, with `words` of each question. */
class Bundle {
  readonly name: string;
  readonly total: number;
  readonly words: number;
  /** First rank and number of the results asked for. */
  readonly asked: [number, number][] = [];
  opened_count = 0;
  /** The next openings and questions fail so. */
  readonly failures: (SearchErrorCode | undefined)[] = [];
  /** Openings and questions wait for this. */
  gate: Promise<void> = Promise.resolve();
  /** Questions take so long. */
  delay_ms = 0;

  constructor(name: string, total: number, words = 0) {
    this.name = name;
    this.total = total;
    this.words = words;
  }

  /** Holds openings and questions back until the function that it returns is called. */
  hold(): () => void {
    let release = () => {};
    this.gate = new Promise((resolve) => {
      release = resolve;
    });
    return release;
  }

  get member(): Member {
    const open = async (_: OpenOptions): Promise<Search> => {
      this.opened_count += 1;
      await this.gate;
      this.#fail();
      return {
        query: async (...question) => {
          await this.gate;
          // Now one bundle is the first to answer, now another.
          await setTimeout(this.delay_ms + ((7 * this.asked.length + this.total) % 4));
          return this.#answer(...question);
        },
        close() {},
        offline: READY,
      };
    };
    return { folder: new URL(`https://x.example/${this.name}/siskin/`), open, opening: open };
  }

  #answer(text: string, options: QueryOptions = {}): Answer {
    const { first = 0, limit = 10, mode = "table" } = options;
    this.asked.push([first, limit]);
    this.#fail();
    const count = Math.max(0, Math.min(limit, this.total - first));
    const results = Array.from({ length: count }, (_, at) => result(first + at, this.words));
    const facets = [{ filter: "kind", value: this.name, found: 1, pages: this.total }];
    const facet = { filter: "all", value: "x", found: 2, pages: this.total };
    const suggestions = ["both", this.name];
    const answer = { query: text, mode, took_ms: this.total, suggestions };
    return { ...answer, total: this.total, results, facets: [facet, ...facets] };
  }

  #fail(): void {
    const code = this.failures.shift();
    if (code !== undefined) throw new SearchError(code, `${this.name}: ${code}`);
  }
}

const READY = Promise.resolve("ready" as const);

function result(rank: number, words: number): Result {
  const matches: Match[] = Array.from({ length: words }, (_, at) => {
    return { kind: "word", query: `${at}`, text: `${at}` };
  });
  const section = { url: `/${rank}#a`, heading: "", excerpt: "", matches };
  const rest = { title: "", score: 7, meta: {}, filters: [], sections: [section] };
  return { ...section, ...rest, url: `/${rank}` };
}

function together(...bundles: Bundle[]): Promise<Search> {
  return openTogether(
    bundles.map(({ member }) => member),
    {},
  );
}

async function urls(search: Search, options?: QueryOptions): Promise<string> {
  const { results } = await search.query("q", options);
  return results.map(({ url }) => new URL(url).pathname).join(" ");
}

test("ranks decide, of weight 2 come two for one, and of equal ones the first index's", () => {
  const places = (...shares: [number, number][]) =>
    mixed(shares.map(([count, weight]) => ({ count, weight })))
      .map(({ index, rank }) => `${index}/${rank}`)
      .join(" ");
  assert.equal(places([2, 1], [4, 1]), "0/0 1/0 0/1 1/1 1/2 1/3");
  assert.equal(places([4, 2], [2, 1]), "0/0 0/1 1/0 0/2 0/3 1/1");
  assert.equal(places([0, 1], [1, 1]), "1/0");
});

test("facets are added up, and stand in order", () => {
  const facet = (value: string, found: number, pages: number) => {
    return { filter: "constructor", value, found, pages };
  };
  assert.deepEqual(
    addedUp([facet("b", 1, 2), facet("c", 1, 1), facet("a", 0, 1), facet("b", 2, 3)]),
    [facet("a", 0, 1), facet("b", 3, 5), facet("c", 1, 1)],
  );
});

test("results come in turn, with whole addresses, and everything else is added up", async () => {
  const [docs, blog] = [new Bundle("docs", 20), new Bundle("blog", 30)];
  const search = await together(docs, blog);
  const answer = await search.query("q", { limit: 4 });
  assert.deepEqual(
    answer.results.map(({ url }) => url),
    ["docs/0", "blog/0", "docs/1", "blog/1"].map((path) => `https://x.example/${path}`),
  );
  assert.equal(answer.results[1]?.sections[0]?.url, "https://x.example/blog/0#a");
  assert.deepEqual(
    answer.results.map(({ score }) => score),
    [1, 1, 1 / 2, 1 / 2],
  );
  assert.deepEqual([docs.asked, blog.asked], [[[0, 2]], [[0, 2]]]);
  const { total, suggestions, took_ms, facets, failures } = answer;
  assert.deepEqual([total, took_ms, failures], [50, 30, undefined]);
  assert.deepEqual(suggestions, ["both", "docs", "blog"]);
  assert.deepEqual(facets, [
    { filter: "all", value: "x", found: 4, pages: 50 },
    { filter: "kind", value: "blog", found: 1, pages: 30 },
    { filter: "kind", value: "docs", found: 1, pages: 20 },
  ]);
  assert.equal(await search.offline, "ready");
});

test("the bundle whose best result has more of the question's words comes first", async () => {
  const search = await together(new Bundle("docs", 5, 1), new Bundle("blog", 5, 3));
  assert.equal(await urls(search, { limit: 4 }), "/blog/0 /docs/0 /blog/1 /docs/1");
});

test("pages of results neither repeat nor leave out one, whatever each bundle has", async () => {
  for (const sizes of [
    [20, 30],
    [1, 30, 4],
    [30, 0],
    [12, 13, 14, 15],
    [7, 7, 7, 7],
  ]) {
    const bundles = sizes.map((total, at) => new Bundle(`b${at}`, total, at % 3 === 2 ? 1 : 0));
    const search = await together(...bundles);
    const whole = await urls(search, { limit: 100 });
    const pages: string[] = [];
    for (let first = 0; first < 60; first += 7) pages.push(await urls(search, { first, limit: 7 }));
    assert.equal(pages.filter((page) => page !== "").join(" "), whole, sizes.join());
    const count = sizes.reduce((sum, size) => sum + size, 0);
    assert.equal(new Set(whole.split(" ")).size, count);
  }
});

test("a bundle that fails is told and takes nothing of the others away; it is opened again", async () => {
  const [docs, blog] = [new Bundle("docs", 3), new Bundle("blog", 3)];
  blog.failures.push("network", "network");
  const search = await together(docs, blog);
  const { results, failures } = await search.query("q");
  assert.equal(results.length, 3);
  const folder = "https://x.example/blog/siskin/";
  assert.deepEqual(failures, [{ bundle: folder, code: "network", message: "blog: network" }]);
  assert.equal((await search.query("q")).results.length, 6);
  assert.deepEqual([docs.opened_count, blog.opened_count], [1, 3]);
  blog.failures.push("internal");
  assert.equal((await search.query("q")).failures?.[0]?.code, "internal");
  assert.equal((await search.query("q")).results.length, 6);
  assert.equal(blog.opened_count, 4);
});

test("where all fail, or the question is to blame, it rejects", async () => {
  const [docs, blog] = [new Bundle("docs", 3), new Bundle("blog", 3)];
  for (const bundle of [docs, blog]) bundle.failures.push("version");
  await assert.rejects(together(docs, blog), { code: "version" });
  const search = await together(docs, blog);
  blog.failures.push("query");
  await assert.rejects(search.query("q"), { code: "query" });
  for (const bundle of [docs, blog]) bundle.failures.push("network");
  await assert.rejects(search.query("q"), { code: "network" });
  await assert.rejects(search.query("q", { limit: 0 }), { code: "query" });
  search.close();
  await assert.rejects(search.query("q"), { code: "closed" });
});

test("what a late bundle says is told only where no other says more", async () => {
  const [docs, blog] = [new Bundle("docs", 3), new Bundle("blog", 3)];
  docs.hold();
  const search = await together(docs, blog);
  blog.failures.push("network");
  await assert.rejects(search.query("q"), { code: "network" });
  search.close();
});

test("addresses begin where the page says", async () => {
  const [docs, blog] = [new Bundle("docs", 1), new Bundle("blog", 1)];
  const sites = ["https://x.example/manual/"];
  const search = await openTogether([docs.member, blog.member], { sites });
  assert.equal(await urls(search), "/manual/0 /blog/0");
});

test("a bundle that does not answer is waited for once, and takes part when it is there", async () => {
  const [docs, blog] = [new Bundle("docs", 20), new Bundle("blog", 30)];
  const answer = blog.hold();
  const opening = performance.now();
  const search = await together(docs, blog);
  assert.ok(performance.now() - opening > 3900);
  const asked = performance.now();
  const { failures = [], results } = await search.query("q", { limit: 4 });
  assert.deepEqual(
    failures.map(({ bundle, code }) => [bundle, code]),
    [["https://x.example/blog/siskin/", "late"]],
  );
  assert.match(failures[0]?.message ?? "", /has not answered yet/);
  assert.equal(results.length, 4);
  await assert.doesNotReject(search.query("q", { mode: "full" }));
  assert.ok(performance.now() - asked < 1000, "it was waited for again");
  answer();
  await setTimeout(10);
  assert.equal(await urls(search, { limit: 4 }), "/docs/0 /blog/0 /docs/1 /blog/1");
  assert.equal(blog.opened_count, 1);
});

test("a bundle that answers late that it cannot be opened is told so by the next question", async () => {
  const [docs, blog] = [new Bundle("docs", 20), new Bundle("blog", 30)];
  blog.failures.push("version", "version");
  const answer = blog.hold();
  const search = await together(docs, blog);
  answer();
  await setTimeout(10);
  const { failures = [] } = await search.query("q", { limit: 4 });
  assert.deepEqual(
    failures.map(({ code }) => code),
    ["version"],
  );
  assert.equal(await urls(search, { limit: 2 }), "/docs/0 /blog/0");
});

test("a bundle that stops answering holds up the others once, until it answers again", async () => {
  const [docs, blog] = [new Bundle("docs", 20), new Bundle("blog", 30)];
  const search = await together(docs, blog);
  const answer = blog.hold();
  const counts = async (options?: QueryOptions) => {
    const begin_ms = performance.now();
    const { failures = [], results } = await search.query("q", { limit: 4, ...options });
    return [failures.length, results.length, performance.now() - begin_ms < 1000];
  };
  assert.deepEqual(await counts(), [1, 4, false]);
  assert.deepEqual(await counts(), [1, 4, true]);
  assert.deepEqual(await counts({ mode: "full" }), [1, 4, true], "whatever the mode");
  answer();
  await setTimeout(50);
  assert.deepEqual(await counts(), [0, 4, true]);
  blog.delay_ms = 700;
  assert.deepEqual(await counts(), [0, 4, true], "it is waited for again");
  search.close();
});

test("a bundle that is opened anew and was slow before is not waited for as if it were not", async () => {
  const [docs, blog] = [new Bundle("docs", 20), new Bundle("blog", 30)];
  const search = await together(docs, blog);
  const answer = blog.hold();
  await search.query("q");
  blog.failures.push("internal");
  blog.gate.then(() => blog.hold());
  answer();
  await setTimeout(50);
  const begin_ms = performance.now();
  const { failures = [] } = await search.query("q", { mode: "full" });
  assert.deepEqual(
    failures.map(({ code }) => code),
    ["late"],
  );
  assert.ok(performance.now() - begin_ms < 1000, "it was waited for again");
  assert.equal(blog.opened_count, 2);
  search.close();
});

test("once a network is there, a bundle that stops answering is not waited for without end", async () => {
  const [docs, blog] = [new Bundle("docs", 20), new Bundle("blog", 30)];
  const search = await together(docs, blog);
  const options = { mode: "full", limit: 4 } as const;
  // A list of pages needs no network.
  await search.query("", { mode: "full", filter: { filter: "all", value: "x" } });
  blog.delay_ms = 4500;
  assert.equal((await search.query("q", options)).failures, undefined, "a network takes its time");
  blog.hold();
  const { failures = [], results } = await search.query("q", options);
  assert.deepEqual([failures.length, results.length], [1, 4]);
  search.close();
});
