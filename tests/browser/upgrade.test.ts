/** A site is indexed again while a tab has its old index open. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import type { Search } from "../../www/src/api.js";
import { launch, sampleSite, Tab } from "./harness.js";

const WORKER = "/service-worker.js";

/** Pages of the new index; the old one is that of the Rust Book. */
const NEW_PAGES = 8;

let browser: Browser;
let folder: string;
/** The new index, before it takes the old one's place. */
let next: string;
/** An index whose pages have filters. */
let filtered: string;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "siskin-upgrade-"));
  filtered = indexed("filtered", '<p data-siskin-filter="kind">freight</p>');
  next = indexed("next");
  browser = await launch();
});

after(async () => {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
});

/** An index of new pages that all have `more`. */
function indexed(name: string, more = ""): string {
  for (let number = 0; number < NEW_PAGES; number++) {
    writeFileSync(
      join(folder, `${number}.html`),
      `<!doctype html><html lang="en"><title>Train ${number}</title><main><h1>Train ${number}</h1>
      <p>The train number ${number} runs on rails from the station to the harbour.${more}`,
    );
  }
  const { SISKIN_BINARY = "", SISKIN_DIST_DIR = "" } = process.env;
  execFileSync(SISKIN_BINARY, ["index", folder, "--runtime", SISKIN_DIST_DIR, "--quiet"]);
  renameSync(join(folder, "siskin"), join(folder, name));
  return join(folder, name);
}

/** The old index is in its place, without the network, which is large. */
beforeEach(() => {
  const old = join(sampleSite(), "siskin");
  const filter = (source: string) => !relative(old, source).startsWith("encoder");
  rmSync(join(folder, "siskin"), { recursive: true, force: true });
  cpSync(old, join(folder, "siskin"), { recursive: true, filter });
});

/** The new index takes the old one's place, of which nothing remains. */
function upgrade(): void {
  rmSync(join(folder, "siskin"), { recursive: true });
  cpSync(next, join(folder, "siskin"), { recursive: true });
}

async function openTab(attributes = ""): Promise<Tab> {
  const tab = await Tab.open(browser, { folder });
  tab.site.file(WORKER, 'importScripts("/siskin/siskin-sw.js");');
  tab.site.file("/favicon.svg", '<svg xmlns="http://www.w3.org/2000/svg"/>');
  tab.site.page("/test/", `<siskin-search ${attributes}></siskin-search>`);
  await tab.watchAnswers();
  await tab.page.addInitScript(() => {
    addEventListener("siskin-offline-ready", () => Object.assign(globalThis, { kept: true }), {
      capture: true,
    });
  });
  await tab.goto("/test/");
  return tab;
}

/** Titles of the pages found for a question. */
async function found(page: Page, question: string): Promise<string[]> {
  const box = page.locator("siskin-search");
  await box.evaluate((node, question) => {
    const answered = new Promise((resolve) =>
      node.addEventListener("siskin-results", resolve, { once: true }),
    );
    Object.assign(globalThis, { answered });
    Object.assign(node, { value: question });
  }, question);
  await page.evaluate(() => (globalThis as unknown as { answered: Promise<unknown> }).answered);
  return box.locator(".title").allTextContents();
}

const isTrain = (title: string) => /^Train \d$/.test(title);

/** Of files that are gone, which is told before the new ones are asked for. */
const GONE = [/404/];

/** Waits until every shard that is kept is one of the index in place. */
function untilShardsAreNew(tab: Tab, page: Page): Promise<void> {
  return tab.until(
    async (url) => {
      const manifest = await (await fetch(url)).text();
      const keys = await (await caches.open("siskin-1")).keys();
      const names = keys.map(({ url }) => /-([a-z2-7]{6})\.bin$/.exec(url)?.[1]);
      return names.every((name) => name === undefined || manifest.includes(name));
    },
    "/siskin/siskin.json",
    page,
  );
}

test("a tab with the old index open answers from the new one once a file is gone", async () => {
  const tab = await openTab();
  const before_upgrade = await found(tab.page, "share data between threads safely");
  assert.ok(before_upgrade.length > 0 && !before_upgrade.some(isTrain));
  upgrade();
  const after_upgrade = await found(tab.page, "train on rails to the harbour");
  assert.equal(after_upgrade.length, NEW_PAGES);
  assert.ok(after_upgrade.every(isTrain), after_upgrade.join());
  assert.equal(await tab.note.isVisible(), false);
  assert.ok((await found(tab.page, "number 3 station")).every(isTrain));
  assert.equal(tab.page.workers().length, 1, "the old engine has ended");
  await tab.page.reload();
  assert.ok((await found(tab.page, "train")).every(isTrain), "and so does a fresh load");
  await tab.close({ expected: GONE });
});

test("a script is told that its index is gone, and opens the new one itself", async () => {
  const tab = await openTab();
  await tab.page.evaluate(async () => {
    const script = "/siskin/siskin.js";
    const { open } = await import(script);
    const search = await open("/siskin/");
    await search.query("share data between threads safely");
    Object.assign(globalThis, { search, open });
  });
  upgrade();
  const [code, total] = await tab.page.evaluate(async () => {
    const { search, open } = globalThis as unknown as {
      search: Search;
      open(bundle: string): Promise<Search>;
    };
    const code = await search.query("train on rails").then(String, ({ code }) => code);
    const { total } = await (await open("/siskin/")).query("train on rails");
    return [code, total];
  });
  assert.deepEqual([code, total], ["closed", NEW_PAGES]);
  await tab.close({ expected: GONE });
});

test("what is kept for use without a connection goes on, and makes room for the new index", async () => {
  const tab = await openTab(`offline="${WORKER}"`);
  await tab.page.waitForFunction(() => "kept" in globalThis);
  assert.ok((await found(tab.page, "share data between threads safely")).length > 0);
  upgrade();
  const kept = await found(tab.page, "anonymous functions that capture");
  assert.ok(kept.length > 0 && !kept.some(isTrain), "all of the old index is kept");
  const fresh = await tab.page.context().newPage();
  await fresh.goto(`${tab.site.origin}/test/`);
  assert.ok((await found(fresh, "train on rails")).every(isTrain));
  // Once the new index is kept too, the old one's shards are dropped: the old tab goes over to it.
  await untilShardsAreNew(tab, fresh);
  const old = await found(tab.page, "train on rails to the harbour");
  assert.ok(old.length === NEW_PAGES && old.every(isTrain), old.join());
  await tab.close({ expected: GONE });
});

test("what pages said of themselves in the old index is dropped, too", async () => {
  rmSync(join(folder, "siskin"), { recursive: true });
  cpSync(filtered, join(folder, "siskin"), { recursive: true });
  const tab = await openTab(`offline="${WORKER}"`);
  await tab.page.waitForFunction(() => "kept" in globalThis);
  const attributes = async () => {
    const keys = await (await caches.open("siskin-1")).keys();
    return keys.filter(({ url }) => url.includes("/attributes-")).length;
  };
  assert.equal(await tab.page.evaluate(attributes), 1);
  upgrade();
  const fresh = await tab.page.context().newPage();
  await fresh.goto(`${tab.site.origin}/test/`);
  await untilShardsAreNew(tab, fresh);
  assert.equal(await tab.page.evaluate(attributes), 0);
  await tab.close({ expected: GONE });
});
