/** Several indexes in one box, in Chromium: two sites, each indexed by the command. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import type { Answer } from "../../www/src/api.js";
import { launch, Tab } from "./harness.js";
import { stubEngine } from "./stub.js";

const BUNDLES = "/docs/siskin/ blog/siskin/";

/** The same, as the server has them. */
const FOLDERS = ["/docs/siskin/", "/blog/siskin/"];

let browser: Browser;
let folder: string;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "siskin-together-"));
  const { SISKIN_BINARY = "", SISKIN_DIST_DIR = "" } = process.env;
  for (const [site, count] of [
    ["docs", 4],
    ["blog", 8],
  ] as const) {
    mkdirSync(join(folder, site));
    for (let number = 0; number < count; number++) {
      writeFileSync(join(folder, site, `${number}.html`), page(site, number));
    }
    const options = ["--runtime", SISKIN_DIST_DIR, "--quiet"];
    execFileSync(SISKIN_BINARY, ["index", join(folder, site), ...options]);
  }
  browser = await launch();
});

after(async () => {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Both sites have pages of the same names, on trains. */
function page(site: string, number: number): string {
  const ships = site === "blog" ? "Ferries wait there for the night boat to the islands." : "";
  return `<!doctype html><html lang="en"><title>Train ${number} of the ${site}</title>
    <link rel="icon" href="data:,"><main>
    <h1>Train ${number}</h1><p data-siskin-filter="kind">${number % 2 ? "odd" : "even"}</p>
    <p>The train number ${number} runs on rails from the station to the harbour.
    <h2>Timetable</h2><p>Train ${number} leaves every hour. ${ships}`;
}

async function withTab(
  work: (tab: Tab) => Promise<void>,
  { attributes = "", expected = [] as RegExp[], prepare = (_: Tab) => {} } = {},
): Promise<void> {
  const tab = await Tab.open(browser, { folder });
  const box = `<siskin-search bundle="${BUNDLES}" ${attributes}></siskin-search>`;
  tab.site.file(
    "/index.html",
    `<!doctype html><html lang="en"><title>Start</title><link rel="icon" href="data:,">
    <script type="module" src="/docs/siskin/siskin.js"></script>${box}`,
  );
  prepare(tab);
  await tab.watchAnswers();
  await tab.goto("/index.html");
  await work(tab);
  await tab.close({ expected });
}

/** Paths of the pages in the list. */
function paths(tab: Tab): Promise<string[]> {
  return tab.groups.evaluateAll((groups) =>
    groups.map((group) => group.querySelector("a")?.pathname ?? ""),
  );
}

test("both sites' pages come in turn, with links, sections, facets and “Show more”", () =>
  withTab(
    async (tab) => {
      await tab.ask("train on rails");
      const first = await paths(tab);
      assert.equal(first.length, 6);
      const siteOf = (path: string) => path.split("/")[1] ?? "";
      assert.deepEqual(first.map(siteOf).sort(), ["blog", "blog", "blog", "docs", "docs", "docs"]);
      const kinds = tab.page.getByRole("group", { name: "kind" }).getByRole("button");
      assert.deepEqual(await kinds.allInnerTexts(), ["even 6", "odd 6"]);
      await tab.page.getByRole("button", { name: "Show more" }).click();
      await tab.groups.nth(11).waitFor();
      const all = await paths(tab);
      assert.equal(new Set(all).size, 12);
      assert.deepEqual(all.slice(0, 6), first);
      await kinds.first().click();
      // A slow machine draws the list in parts, with pages of the older one below.
      await tab.groups
        .filter({ hasText: /Train [13579]/ })
        .first()
        .waitFor({ state: "detached" });
      assert.equal((await paths(tab)).length, 6);
      await tab.ask("night boat to the islands");
      assert.equal(siteOf((await paths(tab))[0] ?? ""), "blog");
      const link = await tab.options.first().getAttribute("href");
      await tab.options.first().click();
      await tab.page.waitForURL(link ?? "");
      assert.match(await tab.page.title(), /of the blog/);
    },
    { attributes: 'limit="6" filters="kind"' },
  ));

test("a bundle that cannot be fetched is told, and found again with “Try again”", () =>
  withTab(
    async (tab) => {
      await tab.ask("train on rails");
      assert.equal(await tab.groups.count(), 4);
      assert.match(await tab.note.innerText(), /^Some results are missing/);
      await tab.status.getByText("Some results are missing").waitFor({ state: "attached" });
      assert.equal(await tab.page.evaluate("failedWith"), "network");
      tab.site.heal();
      await tab.page.getByRole("button", { name: "Try again" }).press("Enter");
      assert.ok(await tab.box.evaluate((node) => node.matches(":focus")), "the focus is lost");
      await tab.groups.nth(9).waitFor();
      assert.equal(await tab.note.isVisible(), false);
    },
    {
      expected: [/500/],
      prepare: (tab) => {
        tab.site.fail(/blog\/siskin\/siskin\.json/, "status 500", 99);
        void tab.page.addInitScript(() => {
          addEventListener(
            "siskin-error",
            (event) =>
              Object.assign(globalThis, {
                failedWith: (event as CustomEvent<{ code: string }>).detail.code,
              }),
            { capture: true },
          );
        });
      },
    },
  ));

test("a script opens several, and closes all of their engines", () =>
  withTab(async (tab) => {
    const answer: Answer = await tab.page.evaluate(async () => {
      const script = "/docs/siskin/siskin.js";
      const { open } = await import(script);
      const search = await open(["/docs/siskin/", new URL("/blog/siskin/", location.href)]);
      const answer = await search.query("train on rails", { limit: 12, sections: 2, facets: true });
      Object.assign(globalThis, { search });
      return answer;
    });
    assert.equal(answer.total, 12);
    assert.equal(answer.results.length, 12);
    assert.ok(answer.results.every(({ url }) => url.startsWith(`${tab.site.origin}/`)));
    assert.ok(answer.results.every(({ sections }) => sections.length > 0));
    assert.deepEqual(
      answer.facets.find(({ value }) => value === "odd"),
      {
        filter: "kind",
        value: "odd",
        found: 6,
        pages: 6,
      },
    );
    assert.equal(tab.page.workers().length, 2);
    await tab.page.evaluate(() =>
      (globalThis as unknown as { search: { close(): void } }).search.close(),
    );
    while (tab.page.workers().length > 0) await tab.page.waitForTimeout(20);
  }));

test("“Show more” goes on without a bundle that fails in between, and with it when it is back", () =>
  withTab(
    async (tab) => {
      const more = tab.page.getByRole("button", { name: "Show more" });
      await tab.ask("trains");
      const first = await links(tab);
      assert.equal(first.length, 6);
      tab.site.fail(/blog\/siskin\/needed/, "status 500", 99);
      await more.click();
      await tab.groups.nth(14).waitFor();
      assert.match(await tab.note.innerText(), /^Some results are missing/);
      const second = await links(tab);
      assert.deepEqual(second.slice(0, 6), first);
      assert.equal(second.filter((link) => link.includes("/docs/")).length, 12);
      tab.site.heal();
      await more.click();
      await tab.groups.nth(20).waitFor();
      assert.equal(await tab.note.isVisible(), false);
      const third = await links(tab);
      assert.deepEqual([third.slice(0, 15), third.length, new Set(third).size], [second, 21, 21]);
      assert.equal(third.filter((link) => link.includes("/blog/")).length, 9);
    },
    {
      attributes: 'limit="6"',
      expected: [/500/],
      prepare: (tab) => stubEngine(tab.site, { bundles: FOLDERS, needed: "needed" }),
    },
  ));

test("a count that is announced is never below what is listed, whoever answers", () => {
  return withTab(
    async (tab) => {
      await tab.ask("few");
      tab.site.fail(/blog\/siskin\/needed/, "status 500", 99);
      await tab.page.getByRole("button", { name: "Show more" }).click();
      await tab.groups.nth(9).waitFor();
      await tab.status.getByText("Some results are missing").waitFor({ state: "attached" });
      assert.equal(await tab.groups.count(), 10);
      assert.match(await tab.status.innerText(), /^10 results/);
    },
    {
      attributes: 'limit="6"',
      expected: [/500/],
      prepare: (tab) => {
        const few = Array.from({ length: 7 }, (_, page) => ({ url: `/few-${page}.html` }));
        stubEngine(tab.site, { bundles: FOLDERS, needed: "needed", answers: { few } });
      },
    },
  );
});

test("a bundle that is slow to open does not keep the network away from later questions", () => {
  let release = () => {};
  return withTab(
    async (tab) => {
      await tab.ask("trains");
      assert.match(await tab.note.innerText(), /^Some results are missing/);
      release();
      const isPartial = () => tab.note.isVisible();
      for (let number = 0; await isPartial(); number++) await tab.ask(`trains ${number}`);
      await tab.ask("ferries");
      await tab.page.waitForFunction('answered === "ferries" && answeredMode === "full"');
    },
    {
      attributes: 'encoder="on-open"',
      prepare: (tab) => {
        release = tab.site.hold("/blog/siskin/siskin.json");
        stubEngine(tab.site, { bundles: FOLDERS });
      },
    },
  );
});

test("what other bundles' networks find takes no results of a bundle along that lacks its own", () =>
  withTab(
    async (tab) => {
      await tab.ask("trains");
      assert.match(await tab.note.innerText(), /^Some results are missing/);
      const isRequested = (file: string) => tab.site.requests.includes(file);
      while (!isRequested("/blog/siskin/network")) await tab.page.waitForTimeout(20);
      await tab.page.waitForTimeout(300);
      assert.equal(await tab.page.evaluate("answeredMode"), "table");
      assert.ok((await links(tab)).every((link) => link.includes("/docs/")));
    },
    {
      attributes: 'encoder="idle"',
      expected: [/500/],
      prepare: (tab) => {
        stubEngine(tab.site, { bundles: FOLDERS, needed: "needed" });
        tab.site.fail(/blog\/siskin\/needed/, "status 500", 1);
        tab.site.fail(/docs\/siskin\/network/, "status 500", 99);
      },
    },
  ));

test("a bundle that is late once does not keep the network away from later questions", () =>
  withTab(
    async (tab) => {
      await tab.ask("trains");
      await tab.page.waitForFunction('answeredMode === "full"');
      const release = tab.site.hold("/blog/siskin/network");
      await tab.ask("ferries");
      assert.equal(await tab.page.evaluate("answeredMode"), "table");
      await tab.page.waitForTimeout(6000);
      release();
      await tab.ask("islands");
      await tab.page.waitForFunction('answered === "islands" && answeredMode === "full"');
    },
    {
      attributes: 'encoder="idle"',
      prepare: (tab) => stubEngine(tab.site, { bundles: FOLDERS }),
    },
  ));

test("in mode `full` a bundle without its network keeps its results, whatever is asked", () =>
  withTab(
    async (tab) => {
      for (const question of ["trains", "ferries"]) {
        const before = tab.site.requests.filter((path) => path === "/blog/siskin/network").length;
        await tab.ask(question);
        const isAsked = () =>
          tab.site.requests.filter((path) => path === "/blog/siskin/network").length > before;
        while (!isAsked()) await tab.page.waitForTimeout(20);
        await tab.page.waitForTimeout(300);
        const all = await links(tab);
        assert.ok(
          all.some((link) => link.includes("/docs/")),
          question,
        );
        assert.ok(
          all.some((link) => link.includes("/blog/")),
          question,
        );
        assert.equal(await tab.note.isVisible(), false);
      }
    },
    {
      attributes: 'mode="full"',
      expected: [/500/],
      prepare: (tab) => {
        stubEngine(tab.site, { bundles: FOLDERS });
        tab.site.fail(/blog\/siskin\/network/, "status 500", 99);
      },
    },
  ));

/** Addresses of the pages in the list. */
function links(tab: Tab): Promise<string[]> {
  return tab.groups.evaluateAll((groups) =>
    groups.map((group) => group.querySelector("a")?.href.replace(/#.*/, "") ?? ""),
  );
}
