import assert from "node:assert/strict";
import { test } from "node:test";
import type { Result, Section } from "../../src/api.js";
import { cut, cutMatches } from "../../src/ui/bounds.js";
import { append, merge } from "../../src/ui/merge.js";
import { groupOf, type Row } from "../../src/ui/rows.js";

const SITE = new URL("https://example.org/docs/");
const LINKS = { site: SITE, pointsAtText: false };

/** No reasons. */
const NONE = () => [];

function section(anchor: string, heading = `About ${anchor}`): Section {
  return { url: `/a.html#${anchor}`, heading, excerpt: `Of ${anchor}.`, matches: [] };
}

function result(url: string, sections: Section[] = []): Result {
  const own = { heading: "Heading", excerpt: "Excerpt", matches: [], meta: {}, filters: [] };
  return { url, title: "Title", score: 1, ...own, sections };
}

function texts({ kind, lines }: Row): string {
  return `${kind}: ${lines.map(({ text }) => text).join(" | ")}`;
}

test("a result without sections, or with its own alone, is one row that leads to its heading", () => {
  for (const sections of [[], [section("x")]]) {
    const { rows } = groupOf(result("/a.html#x", sections), LINKS, NONE);
    assert.deepEqual(rows.map(texts), ["result: Title | Heading | Excerpt"]);
    assert.equal(rows[0]?.href, "https://example.org/docs/a.html#x");
  }
});

test("a page with sections has a row for itself, without an anchor, and one for each", () => {
  const { key, rows } = groupOf(result("/a.html#x", [section("x"), section("y", "")]), LINKS, NONE);
  assert.equal(key, "/a.html");
  assert.deepEqual(rows.map(texts), ["page: Title", "section: About x | Of x.", "section: Of y."]);
  assert.deepEqual(
    rows.map(({ href }) => href?.slice(SITE.href.length)),
    ["a.html", "a.html#x", "a.html#y"],
  );
});

test("a heading that repeats the title is not shown", () => {
  const { rows } = groupOf({ ...result("/a.html"), heading: "Title" }, LINKS, NONE);
  assert.deepEqual(rows.map(texts), ["result: Title | Excerpt"]);
});

test("an address that is none of the web has no link", () => {
  const { rows } = groupOf(result("javascript:alert(1)"), LINKS, NONE);
  assert.equal(rows[0] && "href" in rows[0], false);
});

test("links lead to the matched words where the browser follows them", () => {
  const matches = [{ kind: "word" as const, query: "lock", text: "lock" }];
  const excerpt = "A mutex is a lock that many threads can share.";
  const href = (url: string) => {
    const found = { ...result(url), excerpt, matches };
    return groupOf(found, { ...LINKS, pointsAtText: true }, NONE).rows[0]?.href?.replaceAll(
      "%20",
      " ",
    );
  };
  const directive = ":~:text=a lock that many threads can";
  assert.equal(href("/a.html#x"), `https://example.org/docs/a.html#x${directive}`);
  assert.equal(href("/a.html"), `https://example.org/docs/a.html#${directive}`);
});

test("an answer of an engine that knows no sections is shown", () => {
  const { sections: _, ...older } = result("/a.html");
  assert.equal(groupOf(older as Result, LINKS, NONE).rows.length, 1);
});

const urls = (results: Result[]) => results.map(({ url }) => url).join(" ");
const results = (...names: string[]) => names.map((name) => result(`/${name}`));

test("without pins the refined results stand alone", () => {
  assert.equal(urls(merge(results("a", "b"), results("c", "a"), 0)), "/c /a");
});

test("pinned results keep their places, and the refined ones follow without repeating them", () => {
  const merged = merge(results("a", "b", "c"), results("d", "b", "e", "a"), 2);
  assert.equal(urls(merged), "/a /b /d /e");
});

test("merging drops none of the better answer's results, which more are counted from", () => {
  assert.equal(urls(merge(results("a", "b"), results("c", "d"), 1)), "/a /c /d");
  assert.equal(urls(merge(results("a", "b"), results(), 1)), "/a");
});

test("the same page at another heading is the same result", () => {
  assert.equal(urls(merge(results("a#x"), results("a#y", "b"), 1)), "/a#x /b");
  assert.equal(urls(append(results("a#x"), results("a#y", "b"))), "/a#x /b");
});

test("texts beyond what anybody reads are cut between characters", () => {
  assert.equal(cut("x".repeat(600)), "x".repeat(600));
  assert.equal(cut("𝒳".repeat(601), 10), `${"𝒳".repeat(10)}…`);
  assert.ok(cut("x".repeat(1 << 20)).length < 700);
});

test("matches beyond what can be marked are left out", () => {
  const match = { kind: "word" as const, query: "q".repeat(1 << 20), text: "t" };
  assert.ok((cutMatches([match])[0]?.query.length ?? 0) < 200);
  assert.deepEqual(cutMatches([{ ...match, text: "t".repeat(101) }]), []);
  assert.equal(cutMatches(Array(1000).fill(match)).length, 50);
});
