/** What becomes of a document's links and tables. */
import assert from "node:assert/strict";
import { test } from "node:test";
import MarkdownIt from "markdown-it";
import { repositoryLinks } from "../links.js";
import { tables } from "../tables.js";

function render(text, source = "docs/ranking.md") {
  const published = new Set();
  const markdown = new MarkdownIt().use(repositoryLinks, published).use(tables);
  return { html: markdown.render(text, { source }), published: [...published] };
}

test("links to documents lead to their pages, with the anchor, by file and by folder", () => {
  const { html } = render(
    "[a](format.md#the-folder) [b](../models/siskin-en) [c](#here) [d](/demo/)",
  );
  assert.match(html, /<a href="\/format\/#the-folder">a/);
  assert.match(html, /<a href="\/siskin-en\/">b/);
  assert.match(html, /<a href="#here">c/);
  assert.match(html, /<a href="\/demo\/">d/);
});

test("pictures and data are published where they are in the repository", () => {
  const { html, published } = render("![growth](plots/growth.svg) [data](benchmarks.json)");
  assert.match(html, /<img src="\/docs\/plots\/growth.svg" alt="growth" loading="lazy">/);
  assert.match(html, /<a href="\/docs\/benchmarks.json">data/);
  assert.deepEqual(published, ["docs/plots/growth.svg", "docs/benchmarks.json"]);
});

test("of a link to another file the text remains, and its path", () => {
  const { html, published } = render("see [NOTICE](../NOTICE) and [this](format.md)");
  assert.match(html, /<span title="NOTICE">NOTICE<\/span> and <a href="\/format\/">this<\/a>/);
  assert.deepEqual(published, []);
});

test("a link to a file that does not exist, or outside the repository, is an error", () => {
  assert.throws(() => render("[x](nothing.md)"), {
    message:
      /docs\/ranking.md: the link to nothing.md leads to docs\/nothing.md, which does not exist/,
  });
  assert.throws(() => render("[x](../../etc/passwd)"), { message: /does not exist/ });
});

test("cells are aligned by classes, and an empty heading is a cell", () => {
  const { html } = render("| | a |\n|---|---:|\n| b | 1 |");
  assert.match(html, /<div class="table" role="group" aria-label="Table" tabindex="0"><table>/);
  assert.match(html, /<td><\/td>\s*<th class="right">a<\/th>/);
  assert.match(html, /<td class="right">1<\/td>/);
  assert.ok(!html.includes("style="));
});
