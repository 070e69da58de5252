/** The wasm modules in Node: the same results as the native command, in the same order. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Mode, Result, Search } from "../../src/api.js";
import { openBundle, SITE } from "./bundle.js";

/** One entry of tests/cases/rust-book.json; the file says what each field asks for. */
interface Case {
  query: string;
  modes: Mode[];
  top?: number;
  pages?: string[];
  contains?: string;
  none?: boolean;
  why: string;
}

const REPOSITORY = process.env.SISKIN_REPOSITORY ?? ".";
const { cases } = JSON.parse(
  readFileSync(join(REPOSITORY, "tests/cases/rust-book.json"), "utf8"),
) as { cases: Case[] };

/** Sections asked for with each result. */
const SECTIONS = 3;

/** The same index, whose queries a small network reads. */
const SMALL = join(SITE, "siskin-small");

let search: Search;
let smallSearch: Search;
before(async () => {
  search = await openBundle();
  smallSearch = await openBundle({}, SMALL);
});
after(() => {
  search?.close();
  smallSearch?.close();
});

for (const item of cases) {
  for (const mode of item.modes) {
    test(`${mode}: ${item.query}: ${item.why}`, async () => {
      const { results } = await search.query(item.query, { mode, sections: SECTIONS });
      assert.deepEqual(urls(results), native(item.query, mode));
      check(item, results);
    });
  }
}

for (const item of cases.filter(({ modes }) => modes.includes("full"))) {
  test(`full, by the small encoder: ${item.query}`, async () => {
    const options = { mode: "full", sections: SECTIONS } as const;
    const { results } = await smallSearch.query(item.query, options);
    assert.deepEqual(urls(results), native(item.query, "full", SMALL));
    if (item.none) assert.deepEqual(results, []);
  });
}

/** Addresses of all results, each followed by those of its sections. */
function urls(results: Result[]): string[] {
  return results.flatMap(({ url, sections }) => [url, ...sections.map((section) => section.url)]);
}

function check(item: Case, results: Result[]): void {
  const top = results.slice(0, item.top ?? results.length);
  if (item.none) assert.deepEqual(results, []);
  if (item.pages !== undefined) {
    const pages = item.pages;
    assert.ok(
      top.some((result) => pages.includes(pageOf(result))),
      `none of ${pages} in ${urls(top)}`,
    );
  }
  const { contains } = item;
  if (contains !== undefined) {
    assert.ok(
      top.some((result) => textOf(result).includes(contains)),
      `${contains} on none of ${urls(top)}`,
    );
  }
}

function pageOf({ url }: { url: string }): string {
  return url.replace(/#.*/, "");
}

/** The page as it is written, its references to `<` and `>` resolved. */
function textOf(result: Result): string {
  const html = readFileSync(join(SITE, pageOf(result)), "utf8");
  return html
    .replace(/<[^>]*>/g, "")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">");
}

function native(query: string, mode: Mode, bundle: string = SITE): string[] {
  const options = ["--mode", mode, "--sections", String(SECTIONS), "--json", "--quiet"];
  const args = ["search", bundle, ...options, "--", query];
  const answer = JSON.parse(run(process.env.SISKIN_BINARY ?? "siskin", args)) as {
    results: Result[];
  };
  return urls(answer.results);
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
