import assert from "node:assert/strict";
import test from "node:test";
import { expandLiquid, expandMdBook, expandMdnMacros } from "../macros.js";
import { outsideFences, pagePath, renderPage } from "../render.js";

/** Each line as MDN has it, and what a reader sees. */
const MDN = [
  ['{{domxref("AbortSignal")}} object', "<code>AbortSignal</code> object"],
  [
    '{{domxref("AbortController.AbortController()", "AbortController()")}}',
    "<code>AbortController()</code>",
  ],
  ['{{domxref("Window/open", "", "", "nocode")}}', "<code>Window/open</code>"],
  ['{{jsxref("Operators/await", "await")}}', "<code>await</code>"],
  ['{{jsxref("Global_Objects/Array/map")}}', "<code>Array.map</code>"],
  ['{{cssxref("grid-template-columns")}}', "<code>grid-template-columns</code>"],
  ["{{HTMLElement('tfoot')}}", "<code>&lt;tfoot&gt;</code>"],
  ['{{ HTMLElement("optgroup") }}', "<code>&lt;optgroup&gt;</code>"],
  ['{{HTTPHeader("Content-Type")}}', "<code>Content-Type</code>"],
  ['{{HTTPStatus("404", "404 Not Found")}}', "404 Not Found"],
  ['{{Glossary("HTTP_header", "HTTP header")}}', "HTTP header"],
  ['{{Glossary("Browser","web browser")}}s', "web browsers"],
  ['{{RFC(7231, "Semantics")}}', "RFC 7231, Semantics"],
  ['{{RFC("9110")}}', "RFC 9110"],
  ['{{APIRef("DOM")}}{{AvailableInWorkers}}', ""],
  ['{{EmbedLiveSample("Fun (and games)", 300, "100%")}}', ""],
  ["{{Compat}}", ""],
  ['{{PreviousMenuNext("Learn/A", "Learn/B", "Learn")}}', ""],
  ["{{ReadOnlyInline}} {{optional_inline}}", "Read only Optional"],
  ["`\\{{Deprecated_Header}}`", "`{{Deprecated_Header}}`"],
  ["{{ book.author }}", "{{ book.author }}"],
  ['{{cssxref("--*")}}', "<code>--&#42;</code>"],
];

for (const [source, shown] of MDN) {
  test(`MDN: ${source}`, () => assert.equal(expandMdnMacros(source), shown));
}

test("Liquid's tags go, captured code stays as code", () => {
  const source = `{% capture step1_rest %}\nGET /books/_settings\n{% endcapture %}
{% include code-block.html\n    rest=step1_rest\n    python=step1_python %}
A note.\n{: .note}\n[join]({{site.url}}{{site.baseurl}}/mappings/join/) {% raw %}{{ctx.index}}{% endraw %}`;
  const text = expandLiquid(source);
  assert.match(text, /```json\nGET \/books\/_settings\n```/);
  assert.match(text, /\[join\]\(\/mappings\/join\/\) \{\{ctx\.index\}\}/);
  assert.doesNotMatch(text, /\{%|\{:|include/);
});

test("a listing of mdBook keeps its caption and loses its include", () => {
  const source = `<Listing number="15-18" file-name="src/main.rs" caption="A list of \`Rc<T>\`">

\`\`\`rust
{{#rustdoc_include ../listings/main.rs}}
\`\`\`

</Listing>`;
  const text = expandMdBook(source);
  assert.match(text, /Filename: src\/main\.rs\n\nListing 15-18: A list of `Rc<T>`/);
  assert.doesNotMatch(text, /Listing number|rustdoc_include|```/);
});

test("nothing changes inside fenced code", () => {
  const source = "a\n\n```js\na\n~~~\na\n```\na\n\n- ```\n  a\n  ```\na";
  const shown = "b\n\n```js\na\n~~~\na\n```\nb\n\n- ```\n  a\n  ```\nb";
  assert.equal(
    outsideFences(source, (part) => part.replaceAll("a", "b")),
    shown,
  );
});

test("the id of a page is the lower-case slug, its address the file's place", () => {
  const source =
    '---\ntitle: ":active"\nslug: Web/CSS/:active\n---\nText.\n\n## See also\n\n## See also\n';
  const path = pagePath("mdn", "web/css/_colon_active/index.md");
  assert.equal(path, "web/css/_colon_active");
  const { id, html } = renderPage("mdn", path, source);
  assert.equal(id, "web/css/:active");
  assert.match(html, /<title>:active<\/title>/);
  assert.match(html, /<main>\n<h1>:active<\/h1>\n<p>Text\.<\/p>/);
  assert.match(html, /<h2 id="see-also">/);
  assert.match(html, /<h2 id="see-also-1">/);
  assert.equal(pagePath("opensearch", "_about/index.md"), "about");
});

test("a page without a title takes its first heading, which becomes the first level", () => {
  const { html } = renderPage("rust-book", "ch03-01", "## Variables\n\nText.\n\n### More\n");
  assert.match(html, /<title>Variables<\/title>/);
  assert.match(html, /<h1 id="variables">Variables<\/h1>/);
  assert.match(html, /<h3 id="more">/);
});

test("a first heading in the text is not doubled", () => {
  const source = "---\ntitle: Children\n---\n# Children aggregation\n";
  const { html } = renderPage("opensearch", "aggregations/children", source);
  assert.match(html, /<title>Children<\/title>/);
  assert.equal(html.match(/<h1/g)?.length, 1);
});
