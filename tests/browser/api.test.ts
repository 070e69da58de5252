/** `open` and its search, as a page's own script uses them. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import type { Section } from "../../www/src/api.js";
import { launch, sampleSite, Tab } from "./harness.js";

interface Case {
  query: string;
  modes: string[];
}

let browser: Browser;
let tab: Tab;
before(async () => {
  browser = await launch();
  tab = await Tab.open(browser);
  tab.site.page("/test.html", "");
  await tab.goto("/test.html");
});
after(async () => {
  await tab.close();
  await browser.close();
});

/** Runs the body of an async function in the page; it gets `open` and `input`, and returns JSON. */
function inPage<T>(body: string, input: unknown = null): Promise<T> {
  const source = `(async () => {
    const { open, SearchError } = await import("/siskin/siskin.js");
    const input = ${JSON.stringify(input)};
    const codeOf = (promise) => promise.then(() => "fulfilled", (error) =>
      error instanceof SearchError ? error.code : "not a SearchError: " + error);
    ${body}
  })()`;
  return tab.page.evaluate(source) as Promise<T>;
}

function native(query: string, mode: string): string[] {
  const binary = process.env.SISKIN_BINARY ?? "siskin";
  const bundle = join(sampleSite(), "siskin");
  const args = ["search", bundle, "--mode", mode, "--json", "--quiet", "--", query];
  const answer = JSON.parse(run(binary, args)) as { results: { url: string }[] };
  return answer.results.map((result) => result.url);
}

/** Standard output; exit code 1 means that nothing was found. */
function run(binary: string, args: string[]): string {
  try {
    return execFileSync(binary, args, { encoding: "utf8" });
  } catch (error) {
    const { status, stdout } = error as { status: number; stdout: string };
    if (status === 1) return stdout;
    throw error;
  }
}

test("every case has the same results in the browser as on the command line", async (context) => {
  const path = join(process.env.SISKIN_REPOSITORY ?? ".", "tests/cases/rust-book.json");
  const { cases } = JSON.parse(readFileSync(path, "utf8")) as { cases: Case[] };
  await inPage("globalThis.shared = await open('/siskin/');");
  for (const { query, modes } of cases) {
    for (const mode of modes) {
      await context.test(`${mode}: ${query}`, async () => {
        const urls = await inPage<string[]>(
          "return (await shared.query(input.query, input)).results.map((result) => result.url);",
          { query, mode },
        );
        assert.deepEqual(urls, native(query, mode));
      });
    }
  }
  await inPage("shared.close();");
});

test("an answer has the command line's fields", async () => {
  const answer = await inPage<Record<string, unknown>>(`
    const search = await open("/siskin/");
    const answer = await search.query("unsafe", { limit: 1 });
    search.close();
    return { ...answer, result: Object.keys(answer.results[0]).sort() };`);
  const fields = [
    "facets",
    "mode",
    "query",
    "result",
    "results",
    "suggestions",
    "took_ms",
    "total",
  ];
  assert.deepEqual(Object.keys(answer).sort(), fields);
  assert.deepEqual(answer.result, [
    "excerpt",
    "filters",
    "heading",
    "matches",
    "meta",
    "score",
    "sections",
    "title",
    "url",
  ]);
  assert.equal(answer.mode, "table");
});

test("results come in parts, each with the sections of its page", async () => {
  const { total, whole, parts, sections } = await inPage<{
    total: number;
    whole: string[];
    parts: string[];
    sections: Section[][];
  }>(`
    const search = await open("/siskin/");
    const urls = ({ results }) => results.map(({ url }) => url);
    const ask = (first, limit) => search.query("ownership of values", { first, limit, sections: 3 });
    const whole = await ask(0, 9);
    const parts = await Promise.all([ask(0, 4), ask(4, 4), ask(8, 1)]);
    search.close();
    return {
      total: whole.total,
      whole: urls(whole),
      parts: parts.flatMap(urls),
      sections: whole.results.map(({ sections }) => sections),
    };`);
  assert.equal(whole.length, 9);
  assert.ok(total >= 9);
  assert.deepEqual(parts, whole);
  assert.ok(sections.every((found) => found.length >= 1 && found.length <= 3));
  assert.ok(sections.some((found) => found.length > 1));
  for (const [index, found] of sections.entries()) {
    assert.equal(found[0]?.url, whole[index]);
    assert.equal(new Set(found.map(({ url }) => url)).size, found.length);
    assert.ok(found.every(({ matches }, at) => at === 0 || matches.length > 0));
  }
});

test("an aborted query rejects with `aborted`, others go on", async () => {
  const codes = await inPage<string[]>(`
    const search = await open("/siskin/");
    const abort = new AbortController();
    const first = codeOf(search.query("unsafe", { signal: abort.signal }));
    const second = codeOf(search.query("unsafe"));
    abort.abort();
    const codes = [await first, await second, await codeOf(search.query("x", { signal: abort.signal }))];
    search.close();
    return codes;`);
  assert.deepEqual(codes, ["aborted", "fulfilled", "aborted"]);
});

test("closing rejects open and later queries with `closed`", async () => {
  const codes = await inPage<string[]>(`
    const search = await open("/siskin/");
    const running = codeOf(search.query("unsafe"));
    search.close();
    search.close();
    return [await running, await codeOf(search.query("unsafe"))];`);
  assert.deepEqual(codes, ["closed", "closed"]);
});

test("invalid queries reject with `query` and leave the search usable", async () => {
  const codes = await inPage<string[]>(`
    const search = await open("/siskin/");
    const codes = [
      await codeOf(search.query("")),
      await codeOf(search.query("a".repeat(100_000))),
      await codeOf(search.query("a", { limit: 0 })),
      await codeOf(search.query("a", { mode: "magic" })),
      await codeOf(search.query(7)),
      await codeOf(search.query("unsafe")),
    ];
    search.close();
    return codes;`);
  assert.deepEqual(codes, ["query", "query", "query", "query", "query", "fulfilled"]);
});

test("instances are independent, in workers and on the page's own thread", async () => {
  const counts = await inPage<number[]>(`
    const searches = await Promise.all(
      ["auto", "auto", "never", "never"].map((worker) => open("/siskin/", { worker })));
    searches[0].close();
    searches[2].close();
    const answers = await Promise.all([1, 3].map((index) => searches[index].query("unsafe", { limit: 4 })));
    searches[1].close();
    searches[3].close();
    return answers.map((answer) => answer.results.length);`);
  assert.deepEqual(counts, [4, 4]);
});

test("after a trap the instance is closed, and a new one works", async () => {
  const codes = await inPage<string[]>(`
    const search = await open("/siskin/", { worker: "never" });
    const { encodeInto } = TextEncoder.prototype;
    TextEncoder.prototype.encodeInto = () => { throw new WebAssembly.RuntimeError("unreachable"); };
    const trapped = await codeOf(search.query("unsäfe"));
    TextEncoder.prototype.encodeInto = encodeInto;
    const after = await codeOf(search.query("unsafe"));
    const again = await open("/siskin/", { worker: "never" });
    const codes = [trapped, after, await codeOf(again.query("unsafe"))];
    again.close();
    return codes;`);
  assert.deepEqual(codes, ["internal", "internal", "fulfilled"]);
  const instances = tab.site.requests.filter((path) => path.includes("siskin-worker.js"));
  assert.ok(
    instances.some((path) => path.includes("instance=1")),
    instances.join(" "),
  );
});

test("opening can be aborted", async () => {
  const codes = await inPage<string[]>(`
    const abort = new AbortController();
    const opening = codeOf(open("/siskin/", { signal: abort.signal }));
    setTimeout(() => abort.abort());
    return [await opening, await codeOf(open("/siskin/", { signal: abort.signal }))];`);
  assert.deepEqual(codes, ["aborted", "aborted"]);
});
