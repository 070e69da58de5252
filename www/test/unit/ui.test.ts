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
