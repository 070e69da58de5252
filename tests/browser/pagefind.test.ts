/** `pagefind.js` in Chromium, on the built package and the indexed Rust Book: Pagefind's own lists,
 * unchanged, and its functions as a page's own script uses them. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { build } from "esbuild";
import type { Browser } from "playwright-core";
import { launch, Tab } from "./harness.js";

/** The page wanted speaks of a graceful shutdown: words alone do not put it first. */
const QUESTION = "stop the web server cleanly";
const WANTED = "/ch21-03-graceful-shutdown-and-cleanup.html";
const NONSENSE = "zzzz qqqq";
const XSS = `<img src=x onerror="window.hit=1"><script>window.hit=1</script>"'--><svg onload=hit=1>`;

/** As Starlight 0.36 does it. */
const DEFAULT_UI = `
  import { PagefindUI } from "@pagefind/default-ui";
  new PagefindUI({
    element: "#search",
    baseUrl: "/",
    bundlePath: "/pagefind/",
    ranking: { pageLength: 0.1, termFrequency: 0.1, termSaturation: 2, termSimilarity: 9 },
    showImages: false,
    showSubResults: true,
    processResult: (result) => {
      result.sub_results = result.sub_results.map((sub) => ({ ...sub, title: "§ " + sub.title }));
    },
  });`;

const COMPONENT_UI = `import "@pagefind/component-ui";`;

const COMPONENTS = `
  <pagefind-config bundle-path="/pagefind/"></pagefind-config>
  <pagefind-input></pagefind-input>
  <pagefind-summary></pagefind-summary>
  <pagefind-results></pagefind-results>`;

const SEARCHBOX = `
  <pagefind-config bundle-path="/pagefind/"></pagefind-config>
  <pagefind-searchbox show-sub-results></pagefind-searchbox>`;

let browser: Browser;
const lists = { default_ui: "", component_ui: "" };
before(async () => {
  lists.default_ui = await bundled(DEFAULT_UI);
  lists.component_ui = await bundled(COMPONENT_UI);
  browser = await launch();
});
after(() => browser.close());

/** A script and the packages it imports, as a site's bundler would put them together. */
async function bundled(contents: string): Promise<string> {
  const resolveDir = join(process.env.SISKIN_REPOSITORY ?? ".", "www");
  const options = { bundle: true, format: "esm", write: false } as const;
  const { outputFiles } = await build({ ...options, stdin: { contents, resolveDir } });
  return outputFiles[0]?.text ?? "";
}

interface Setting {
  script?: string;
  body?: string;
  policy?: string;
  expected?: RegExp[];
}

/** A page with `script` on a site that has our `pagefind/pagefind.js`. */
async function withTab(body: (tab: Tab) => Promise<void>, setting: Setting = {}): Promise<void> {
  const tab = await Tab.open(browser);
  const built = readFileSync(join(process.env.SISKIN_DIST_DIR ?? "", "pagefind.js"), "utf8");
  tab.site.file("/pagefind/pagefind.js", built);
  tab.site.file("/script.js", setting.script ?? "");
  tab.site.file("/test.html", page(setting.body ?? "<div id='search'></div>"));
  tab.site.page("/policy.html", "", setting.policy);
  await tab.goto(setting.policy === undefined ? "/test.html" : "/policy.html");
  await body(tab);
  await tab.close({ expected: setting.expected ?? [] });
}

function page(body: string): string {
  const icon = '<link rel="icon" href="/favicon.svg">';
  const script = '<script type="module" src="/script.js"></script>';
  const head = `<meta charset="utf-8"><title>Test</title>${icon}${script}`;
  return `<!doctype html><html lang="en"><head>${head}</head><body>${body}</body></html>`;
}

/** Paths of the links that match `selector`, in order. */
function paths(tab: Tab, selector: string): Promise<string[]> {
  const links = tab.page.locator(selector);
  return links.evaluateAll((nodes) => nodes.map((node) => (node as HTMLAnchorElement).pathname));
}

const RESULT = ".pagefind-ui__result-inner > .pagefind-ui__result-title .pagefind-ui__result-link";
const NESTED = ".pagefind-ui__result-nested";

async function askDefault(tab: Tab, question: string): Promise<void> {
  await tab.page.locator(".pagefind-ui__search-input").fill(question);
  await tab.page.locator(".pagefind-ui__message").getByText(`for ${question}`).waitFor();
}

const withDefault = (body: (tab: Tab) => Promise<void>, setting: Setting = {}) =>
  withTab(body, { ...setting, script: lists.default_ui });

test("Default UI: a question is answered with links, sections and marks", () =>
  withDefault(async (tab) => {
    await askDefault(tab, QUESTION);
    await tab.page.locator(RESULT).nth(4).waitFor();
    const found = await paths(tab, RESULT);
    assert.equal(found.length, 5);
    assert.ok(found.slice(0, 3).includes(WANTED), found.join(" "));
    const titles = await tab.page.locator(RESULT).allTextContents();
    assert.ok(titles.every((title) => title.trim() !== ""));
    const nested = tab.page.locator(`${NESTED} .pagefind-ui__result-link`);
    assert.match((await nested.first().textContent()) ?? "", /^\s*§ ./);
    assert.match((await nested.first().getAttribute("href")) ?? "", /^\/[^/].*#./);
    assert.ok((await tab.page.locator(`${NESTED} mark`).count()) > 0);
  }));

test("Default UI: a section's address opens the page at its heading", () =>
  withDefault(async (tab) => {
    await askDefault(tab, QUESTION);
    const link = tab.page.locator(`${NESTED} .pagefind-ui__result-link`).first();
    const href = (await link.getAttribute("href")) ?? "";
    await link.click();
    await tab.page.waitForURL(tab.site.origin + href);
    const id = decodeURIComponent(new URL(tab.page.url()).hash.slice(1));
    assert.ok(await tab.page.evaluate((id) => document.getElementById(id) !== null, id));
  }));

test("Default UI: more results come when they are asked for", () =>
  withDefault(async (tab) => {
    await askDefault(tab, QUESTION);
    await tab.page.locator(RESULT).nth(4).waitFor();
    await tab.page.getByRole("button", { name: "Load more results" }).click();
    await tab.page.locator(RESULT).nth(9).waitFor();
    const found = await paths(tab, RESULT);
    assert.equal(new Set(found).size, 10, found.join(" "));
  }));

test("Default UI: nonsense finds nothing and says so", () =>
  withDefault(async (tab) => {
    await askDefault(tab, NONSENSE);
    const message = tab.page.locator(".pagefind-ui__message");
    await message.filter({ hasText: /^\s*No results/ }).waitFor();
  }));

test("Default UI: markup in a question stays text", () =>
  withDefault(async (tab) => {
    await askDefault(tab, XSS);
    // Without the quotation marks, whose phrase no page has.
    await askDefault(tab, `${XSS.replaceAll('"', "")} ownership`);
    await tab.page.locator(RESULT).first().waitFor();
    assert.equal(await tab.page.evaluate(() => (globalThis as { hit?: number }).hit), undefined);
    assert.equal(await tab.page.locator("#search img, #search svg").count(), 0);
  }));

test("Default UI: before the reader turns to the box, nothing of ours is loaded", () =>
  withDefault(async (tab) => {
    await tab.page.locator(".pagefind-ui__search-input").waitFor();
    await tab.page.waitForLoadState("networkidle");
    const ours = tab.site.requests.filter((path) => /^\/(siskin|pagefind)/.test(path));
    assert.deepEqual(ours, []);
  }));

test("Component UI: a question is answered with links, sections and marks", () =>
  withTab(
    async (tab) => {
      await tab.page.locator("pagefind-input input").fill(QUESTION);
      await tab.page.locator("pagefind-results .pf-result-link").nth(2).waitFor();
      const found = await paths(tab, "pagefind-results .pf-result-link");
      assert.ok(found.slice(0, 3).includes(WANTED), found.join(" "));
      assert.ok((await tab.page.locator("pagefind-results .pf-result-excerpt mark").count()) > 0);
      const section = tab.page.locator("pagefind-results .pf-heading-link").first();
      assert.match((await section.getAttribute("href")) ?? "", /#./);
      await tab.page
        .locator("pagefind-summary")
        .getByText(/\d+ results/)
        .waitFor();
    },
    { script: lists.component_ui, body: COMPONENTS },
  ));

test("Component UI: the search box answers too", () =>
  withTab(
    async (tab) => {
      await tab.page.locator("pagefind-searchbox input").fill(QUESTION);
      const options = tab.page.locator("pagefind-searchbox a.pf-searchbox-result");
      await options.nth(2).waitFor();
      const found = await paths(tab, "pagefind-searchbox a.pf-searchbox-result");
      assert.ok(found.includes(WANTED), found.join(" "));
    },
    { script: lists.component_ui, body: SEARCHBOX },
  ));

/** Runs the body of an async function in the page; it gets `pagefind` and `input`, and returns JSON. */
function inPage<T>(tab: Tab, body: string, input: unknown = null): Promise<T> {
  const source = `(async () => {
    const pagefind = await import("/pagefind/pagefind.js");
    const input = ${JSON.stringify(input)};
    const outcome = (promise) => promise.then(() => "fulfilled", () => "rejected");
    ${body}
  })()`;
  return tab.page.evaluate(source) as Promise<T>;
}

test("the functions answer with Pagefind's fields", () =>
  withTab(async (tab) => {
    const { functions, answer, result, data, section } = await inPage<Record<string, string[]>>(
      tab,
      `const answer = await pagefind.search(input);
       const data = await answer.results[0].data();
       const fields = (value) => Object.keys(value).sort();
       const linked = data.sub_results.find((section) => section.anchor);
       return {
         functions: fields(pagefind),
         answer: fields(answer),
         result: fields(answer.results[0]),
         data: fields(data),
         section: fields(linked),
       };`,
      QUESTION,
    );
    const texts = ["excerpt", "locations", "plain_excerpt", "url", "weighted_locations"];
    const fields = ["filters", "results", "timings", "totalFilters", "unfilteredResultCount"];
    const page = ["anchors", "content", "filters", "meta", "raw_content", "raw_url", "sub_results"];
    const named = ["createInstance", "debouncedSearch", "destroy", "filters", "init", "mergeIndex"];
    assert.deepEqual(functions, [...named, "options", "preload", "search"]);
    assert.deepEqual(answer, fields);
    assert.deepEqual(result, ["data", "id", "score", "words"]);
    assert.deepEqual(data, [...texts, ...page, "word_count"].sort());
    assert.deepEqual(section, [...texts, "anchor", "title"].sort());
  }));

test("all results can be fetched at once, each page once", () =>
  withTab(async (tab) => {
    const urls = await inPage<string[]>(
      tab,
      `const { results } = await pagefind.search(input);
       const data = await Promise.all(results.map((result) => result.data()));
       return data.map(({ url }) => url);`,
      QUESTION,
    );
    assert.ok(urls.length > 10 && urls.length <= 50, `${urls.length} results`);
    assert.equal(new Set(urls).size, urls.length);
    assert.ok(urls.slice(0, 3).includes(WANTED));
  }));

test("instances have options of their own, and methods that need no `this`", () =>
  withTab(async (tab) => {
    const urls = await inPage<string[]>(
      tab,
      `const { search, init, destroy } = pagefind.createInstance({ baseUrl: "https://x.example/" });
       await init();
       const url = async (asked) => (await (await asked).results[0].data()).url;
       const urls = [await url(search(input)), await url(pagefind.search(input))];
       await destroy();
       return urls;`,
      QUESTION,
    );
    assert.match(urls[0] ?? "", /^https:\/\/x\.example\/ch/);
    assert.match(urls[1] ?? "", /^\/ch/);
  }));

test("what is no question has no results, and overtaken calls are null", () =>
  withTab(async (tab) => {
    const [counts, overtaken] = await inPage<[number[], (number | null)[]]>(
      tab,
      `const count = async (term, options) => (await pagefind.search(term, options)).results.length;
       const empty = [null, "", "?!", "a".repeat(100_000)];
       const counts = await Promise.all(empty.map((term) => count(term)));
       counts.push(await count(input, { filters: { tag: "x" } }));
       const calls = ["a", input].map((term) => pagefind.debouncedSearch(term, {}, 20));
       const answers = await Promise.all(calls);
       return [counts, answers.map((answer) => answer && Math.sign(answer.results.length))];`,
      QUESTION,
    );
    assert.deepEqual(counts, [0, 0, 0, 0, 0]);
    assert.deepEqual(overtaken, [null, 1]);
  }));

test("another bundle is searched beside the site's own", () =>
  withTab(async (tab) => {
    const urls = await inPage<string[]>(
      tab,
      `await pagefind.mergeIndex("/other/pagefind/", { siskin: "/siskin-small/" });
       const { results } = await pagefind.search(input);
       const data = await Promise.all(results.slice(0, 4).map((result) => result.data()));
       return data.map(({ url }) => url);`,
      QUESTION,
    );
    assert.deepEqual(
      urls.map((url) => url.startsWith("/other/")),
      [false, true, false, true],
    );
  }));

const FETCH_FAILED = [/Failed to load resource/];

test("a broken connection rejects, and a later call works", () =>
  withTab(
    async (tab) => {
      tab.site.fail(/words-/, "cut connection", 999);
      const asked = "return outcome(pagefind.search(input));";
      assert.equal(await inPage(tab, asked, QUESTION), "rejected");
      tab.site.heal();
      assert.equal(await inPage(tab, asked, QUESTION), "fulfilled");
    },
    { expected: FETCH_FAILED },
  ));

test("when the bundle's script does not come, a later call fetches it again", () =>
  withTab(
    async (tab) => {
      tab.site.fail(/siskin\.js/, "status 500", 1);
      const asked = "return outcome(pagefind.search(input));";
      assert.equal(await inPage(tab, asked, QUESTION), "rejected");
      assert.equal(await inPage(tab, asked, QUESTION), "fulfilled");
    },
    { expected: FETCH_FAILED },
  ));

test("a strict content policy is enough", () =>
  withTab(
    async (tab) => {
      const asked = "return outcome(pagefind.search(input));";
      assert.equal(await inPage(tab, asked, QUESTION), "fulfilled");
    },
    { policy: "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'" },
  ));
