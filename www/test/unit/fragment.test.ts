import assert from "node:assert/strict";
import { test } from "node:test";
import type { Match } from "../../src/api.js";
import { textDirective } from "../../src/ui/fragment.js";

function word(text: string): Match {
  return { kind: "word", query: text, text };
}

function directive(excerpt: string, text: string): string {
  return decodeURIComponent(textDirective(excerpt, [word(text)]).replace(":~:text=", ""));
}

const EXCERPT = "… the end. To share data between many threads safely, use a lock. Then go …";

test("a fragment is a run of words around the first match, within its sentence", () => {
  assert.equal(directive(EXCERPT, "data"), "share data between many threads safely,");
  assert.equal(directive(EXCERPT, "share"), "To share data between many threads");
  assert.equal(directive(EXCERPT, "use"), "between many threads safely, use a");
});

test("words at a cut, short sentences and absent matches have none", () => {
  assert.equal(directive("… threads are fine and small …", "threads"), "");
  assert.equal(directive("cut words are not sure", "cut"), "");
  assert.equal(directive("One. Two threads. Three of them.", "threads"), "");
  assert.equal(directive(EXCERPT, "absent"), "");
  assert.equal(textDirective(EXCERPT, []), "");
  assert.equal(directive(`a ${"x".repeat(300)} match ${"y".repeat(300)} b c`, "match"), "");
});

test("signs that part a directive are encoded", () => {
  const encoded = textDirective("say so-and-so, this & that or more now", [word("this")]);
  assert.match(encoded, /^:~:text=[\w%.!~*'()]+$/);
  assert.ok(!/[-,&]/.test(encoded.slice(3)), encoded);
});

test("hostile excerpts are answered quickly and without marks of their own", () => {
  const started_ms = performance.now();
  textDirective("word ".repeat(200_000), [word("word")]);
  assert.ok(performance.now() - started_ms < 2000);
  assert.ok(
    !textDirective("a <b> threads \u202E are here now ok", [word("threads")]).includes("<"),
  );
});
