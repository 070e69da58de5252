import assert from "node:assert/strict";
import { test } from "node:test";
import type { Match } from "../../src/api.js";
import { resultUrl } from "../../src/ui/address.js";
import { highlight } from "../../src/ui/highlight.js";

function marked(text: string, matches: Match[]): string {
  const show = ({ text, kind }: { text: string; kind?: string }) =>
    kind === undefined ? text : `[${text}]`;
  return highlight(text, matches).map(show).join("");
}

function word(text: string): Match {
  return { kind: "word", query: text, text };
}

test("words and their forms are marked, other words are not", () => {
  const text = "Sharing a thread: threads share, threadbare shards don’t.";
  assert.equal(
    marked(text, [word("thread"), word("sharing")]),
    "[Sharing] a [thread]: [threads] [share], threadbare shards don’t.",
  );
});

test("code is marked as it stands", () => {
  const matches = [word("Rc<RefCell<T>>"), word("--release"), word("a.b*")];
  assert.equal(
    marked("Use Rc<RefCell<T>> with --release, a.b* not aXb", matches),
    "Use [Rc<RefCell<T>>] with [--release], [a.b*] not aXb",
  );
});

test("of writing without blanks the pairs are marked that a match covers, together", () => {
  const matches = ["非同", "同期", "期処", "処理"].map(word);
  assert.equal(
    marked("この関数は非同期処理を待つ。処理", matches),
    "この関数は[非同期処理]を待つ。[処理]",
  );
  assert.equal(
    marked("HTTPサーバーを使う", ["サー", "ーバ", "バー", "http"].map(word)),
    "[HTTP][サーバー]を使う",
  );
  assert.equal(marked("빠른 검색을 위한 색인", [word("검색")]), "빠른 [검색]을 위한 색인");
  assert.equal(marked("การค้นหาข้อมูล", ["ค้น", "นห", "หา"].map(word)), "การ[ค้นหา]ข้อมูล");
  const meaning: Match = { kind: "meaning", query: "検索", text: "探索" };
  const kinds = highlight("探索と検索", [word("検索"), meaning]).map(({ text, kind }) => [
    text,
    kind,
  ]);
  assert.deepEqual(kinds, [
    ["探索", "meaning"],
    ["と", undefined],
    ["検索", "word"],
  ]);
});

test("letters with marks of their own are words as others", () => {
  assert.equal(marked("हिन्दी में खोज", [word("खोज"), word("हिन्दी")]), "[हिन्दी] में [खोज]");
});

test("case and accents do not matter", () => {
  assert.equal(marked("ÉCOLE école", [word("ecole")]), "[ÉCOLE] [école]");
});

test("marking changes no letter of the text", () => {
  const text = "a\u202Eb <i>c</i> 𝒳 — d";
  const segments = highlight(text, [word("c"), word("𝒳")]);
  assert.equal(segments.map((segment) => segment.text).join(""), text);
});

test("results lead below the site, or to http and https", () => {
  const site = new URL("https://example.org/docs/");
  assert.equal(resultUrl("/a.html#b", site), "https://example.org/docs/a.html#b");
  assert.equal(resultUrl("//evil.example/x", site), "https://example.org/docs//evil.example/x");
  assert.equal(resultUrl("https://other.example/x", site), "https://other.example/x");
  assert.equal(resultUrl("javascript:alert(1)", site), undefined);
  assert.equal(resultUrl("data:text/html,x", site), undefined);
  assert.equal(resultUrl("https://[", site), undefined);
});
