/** Pages that their authors gave filters, a sort key, a weight and a language, in Chromium: indexed by
 * the command, chosen in the box and from a script. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import type { Answer, QueryOptions } from "../../www/src/api.js";
import { launch, Tab } from "./harness.js";

const KINDS = ["guide", "guide", "reference", "blog"];

/** A value that would do harm as markup. */
const MARKUP = "<img src=x onerror=hit=1>";

/** Of the first page alone, which is a guide. */
const MOOD = `<p data-siskin-filter="mood[title]" title="${MARKUP}"></p>`;

const START = `<!doctype html><html lang="en"><meta name="siskin" content="noindex"><title>Start</title>
  <link rel="icon" href="data:,">
  <script type="module" src="/siskin/siskin.js"></script>
  <siskin-search filters="kind, author"></siskin-search>`;

let browser: Browser;
let folder: string;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "siskin-facets-"));
  for (let number = 0; number < 8; number++) {
    writeFileSync(join(folder, `${number}.html`), page(number));
  }
  writeFileSync(join(folder, "index.html"), START);
  const { SISKIN_BINARY = "", SISKIN_DIST_DIR = "" } = process.env;
  execFileSync(SISKIN_BINARY, ["index", folder, "--runtime", SISKIN_DIST_DIR, "--quiet"]);
  browser = await launch();
});

after(async () => {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A page on trains; the last one is in German. */
function page(number: number): string {
  const language = number === 7 ? "de" : "en";
  return `<!doctype html><html lang="${language}"><title>Train ${number}</title><main><h1>Train ${number}</h1>
    <img src="train.png" alt="A train"><p data-pagefind-filter="kind">${KINDS[number % 4]}</p>
    ${number === 0 ? MOOD : ""}<time data-pagefind-sort="date[datetime]" datetime="${2000 + number}"></time>
    <p>The train number ${number} runs on rails from the station to the harbour.`;
}

async function withTab(work: (tab: Tab) => Promise<void>): Promise<void> {
  const tab = await Tab.open(browser, { folder });
  await tab.watchAnswers();
  await tab.goto("/index.html");
  await work(tab);
  await tab.close();
}

/** Asks from a script. */
function ask(tab: Tab, text: string, options: QueryOptions): Promise<Answer> {
  return tab.page.evaluate(
    async ([text, options]) => {
      const script = "/siskin/siskin.js";
      const { open } = await import(script);
      const search = await open("/siskin/");
      const answer = await search.query(text, options);
      search.close();
      return answer;
    },
    [text, options] as const,
  );
}

test("the reader chooses by values with their counts, and takes a choice back", () =>
  withTab(async (tab) => {
    await tab.ask("train on rails");
    const facet = tab.page.getByRole("group", { name: "kind" });
    const names = () => facet.getByRole("button").allInnerTexts();
    assert.equal(await tab.groups.count(), 7, "pages in English");
    assert.deepEqual(await names(), ["blog 1", "guide 4", "reference 2"]);
    await facet.getByRole("button", { name: "reference" }).click();
    await tab.page.waitForFunction(
      () =>
        document.querySelector("siskin-search")?.shadowRoot?.querySelectorAll(".result").length ===
        2,
    );
    assert.deepEqual(await names(), ["blog", "guide", "reference 2"]);
    const chosen = facet.getByRole("button", { pressed: true });
    assert.equal(await chosen.count(), 1);
    await chosen.press("Enter");
    await tab.page.waitForFunction(
      () =>
        document.querySelector("siskin-search")?.shadowRoot?.querySelectorAll(".result").length ===
        7,
    );
    assert.equal(await tab.page.getByRole("group", { name: "author" }).count(), 0);
    assert.match(await facet.locator("button:focus").innerText(), /^reference/);
  }));

test("a choice that leaves nothing can be taken back by the keyboard", () =>
  withTab(async (tab) => {
    await tab.page
      .locator("siskin-search")
      .evaluate((box) => box.setAttribute("filters", "kind, mood"));
    await tab.ask("train on rails");
    const sad = tab.page.getByRole("button", { name: MARKUP });
    await tab.page.getByRole("button", { name: "blog" }).click();
    await sad.press("Enter");
    await tab.note.getByText("No results").waitFor();
    assert.equal(await sad.getAttribute("aria-pressed"), "true");
    await tab.page.keyboard.press("Enter");
    await tab.page.getByRole("option").first().waitFor();
    assert.equal(await sad.getAttribute("aria-pressed"), "false");
    assert.equal(await sad.evaluate((button) => button.matches(":focus")), true);
    assert.equal(await tab.page.evaluate("'hit' in globalThis"), false);
  }));

test("the page itself may choose, and ask for all languages", () =>
  withTab(async (tab) => {
    const set = (name: string, value: string) =>
      tab.page
        .locator("siskin-search")
        .evaluate((box, [name, value]) => box.setAttribute(name, value), [name, value] as const);
    await set("filter", "kind: blog, kind: reference");
    await tab.ask("train on rails");
    assert.equal(await tab.groups.count(), 3);
    await set("languages", "all");
    await tab.ask("trains on rails");
    assert.equal(await tab.groups.count(), 4);
  }));

test("filters, their values and languages that are set show at once, and open no closed list", () =>
  withTab(async (tab) => {
    const set = (name: string, value: string) =>
      tab.page
        .locator("siskin-search")
        .evaluate((box, [name, value]) => box.setAttribute(name, value), [name, value] as const);
    const untilCount = (count: number) =>
      tab.page.waitForFunction(
        (count) =>
          document.querySelector("siskin-search")?.shadowRoot?.querySelectorAll(".result")
            .length === count,
        count,
      );
    await tab.ask("train on rails");
    await untilCount(7);
    await set("filter", "kind: blog, kind: reference");
    await untilCount(3);
    await set("languages", "all");
    await untilCount(4);
    await tab.page.getByRole("group", { name: "kind" }).waitFor();
    await set("filters", "author");
    await tab.page.getByRole("group", { name: "kind" }).waitFor({ state: "detached" });
    await tab.box.press("Escape");
    await set("filter", "");
    await untilCount(8);
    assert.equal(await tab.options.first().isVisible(), false);
    assert.equal(await tab.box.getAttribute("aria-expanded"), "false");
    await tab.box.press("ArrowDown");
    assert.equal(await tab.options.first().isVisible(), true);
  }));

test("a script gets filters, order and meta, and lists pages without a question", () =>
  withTab(async (tab) => {
    const newest = await ask(tab, "", {
      filter: { filter: "kind", value: "guide" },
      sort: { key: "date", order: "descending" },
      facets: true,
    });
    const urls = newest.results.map(({ url }) => url);
    assert.deepEqual(urls, ["/5.html", "/4.html", "/1.html", "/0.html"]);
    assert.deepEqual(newest.results[0]?.meta, { image: "train.png", image_alt: "A train" });
    assert.deepEqual(newest.results[0]?.filters, [
      { filter: "kind", value: "guide" },
      { filter: "language", value: "en" },
    ]);
    assert.deepEqual(newest.facets[1], { filter: "kind", value: "guide", found: 4, pages: 4 });
    const german = await ask(tab, "train", { language: "de" });
    assert.equal(german.total, 1);
    const failure = ask(tab, "train", { filter: { all: "x" } as never });
    await assert.rejects(failure, /filter has to be made of/);
  }));
