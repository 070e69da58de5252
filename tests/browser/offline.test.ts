/** A page that was visited once answers without a connection. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import { launch, Tab } from "./harness.js";

let browser: Browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

/** The page that is visited, and the service worker of its site. */
const PAGE = "/page/";
const WORKER = "/service-worker.js";

/** Opens a page and waits until the service worker has kept it. */
async function visitOnce(tab: Tab, html = ""): Promise<void> {
  tab.site.file(WORKER, 'importScripts("/siskin/siskin-sw.js");');
  const attributes = `query-parameter="q" offline="${WORKER}"`;
  tab.site.page(PAGE, `<siskin-search ${attributes}></siskin-search>${html}`);
  await tab.watchAnswers();
  await tab.page.addInitScript(() => {
    addEventListener("siskin-offline-ready", () => Object.assign(globalThis, { kept: true }), {
      capture: true,
    });
  });
  await tab.goto(PAGE);
  await tab.page.waitForFunction(() => "kept" in globalThis);
}

/** Reloads the page without a connection, has it answer, and ends the test. */
async function answersOffline(tab: Tab): Promise<void> {
  await tab.offline(true);
  await tab.site.stop();
  await tab.page.reload();
  await tab.ask("share data between threads safely");
  assert.ok((await tab.options.count()) > 0);
  await tab.close({ expected: [/Failed to load resource|ERR_INTERNET_DISCONNECTED/] });
}

test("a page, reloaded without a connection, answers", async () => {
  const tab = await Tab.open(browser);
  await visitOnce(tab);
  await tab.offline(true);
  await tab.site.stop();
  const requests_online = tab.site.requests.length;
  await tab.page.reload();
  await tab.ask("share data between threads safely");
  assert.ok((await tab.options.count()) > 0);
  assert.equal(tab.site.requests.length, requests_online);
  await tab.close({ expected: [/Failed to load resource|ERR_INTERNET_DISCONNECTED/] });
});

test("a file that the cache holds damaged is fetched anew", async () => {
  const tab = await Tab.open(browser);
  await visitOnce(tab);
  const damaged = await tab.page.evaluate(async () => {
    const cache = await caches.open("siskin-1");
    const codes = (await cache.keys()).find((request) => request.url.includes("/codes-"));
    if (codes === undefined) return undefined;
    await cache.put(codes, new Response("damaged"));
    return codes.url;
  });
  assert.ok(damaged, "the codes are kept");
  await tab.page.reload();
  await tab.ask("share data between threads safely");
  // The service worker stores it after the page has it.
  await tab.until(
    async (url) => ((await (await caches.match(url))?.arrayBuffer())?.byteLength ?? 0) > 1000,
    damaged,
  );
  await tab.close();
});

test("shards are taken from the cache, and those of an earlier build dropped", async () => {
  const tab = await Tab.open(browser);
  await visitOnce(tab);
  await tab.page.evaluate(async () => {
    const cache = await caches.open("siskin-1");
    const earlier = new URL("/siskin/codes-aaaaaa.bin", location.href).href;
    await cache.put(earlier, new Response("of an earlier build"));
  });
  const requests = tab.site.requests.length;
  await tab.page.reload();
  await tab.ask("share data between threads safely");
  const again = tab.site.requests.slice(requests).filter((path) => path.endsWith(".bin"));
  assert.deepEqual(again, [], "shards that are kept are not fetched again");
  await tab.until(
    async (url) => (await caches.match(url)) === undefined,
    "/siskin/codes-aaaaaa.bin",
  );
  await tab.close();
});

test("a question in the address is not kept", async () => {
  const tab = await Tab.open(browser);
  await visitOnce(tab);
  await tab.goto(`${PAGE}?q=unsafe`);
  await tab.page.waitForFunction(() => "answered" in globalThis && "kept" in globalThis);
  const kept = await tab.page.evaluate(async () =>
    (await (await caches.open("siskin-1")).keys()).map((request) => request.url).join(" "),
  );
  assert.ok(kept.includes(PAGE) && !kept.includes("unsafe"), kept);
  await tab.close();
});

test("the network, once used, also answers without a connection", async () => {
  const tab = await Tab.open(browser);
  await visitOnce(tab);
  const state = await tab.page.evaluate(`(async () => {
    const { open } = await import("/siskin/siskin.js");
    const search = await open("/siskin/", { offline: "${WORKER}" });
    await search.query("unsafe", { mode: "full" });
    return search.offline;
  })()`);
  assert.equal(state, "ready");
  await tab.offline(true);
  await tab.site.stop();
  await tab.page.reload();
  const box = tab.page.locator("siskin-search");
  await box.evaluate((node) => node.setAttribute("mode", "full"));
  await tab.ask("crash the program on purpose");
  await tab.page.waitForFunction(
    () => (globalThis as unknown as { answeredMode?: string }).answeredMode === "full",
  );
  await tab.close({ expected: [/Failed to load resource|ERR_INTERNET_DISCONNECTED/] });
});

test("what a page lacks, and files that are downloaded, do not matter", async () => {
  const tab = await Tab.open(browser);
  const image = `<img src="/nowhere.png" alt="">`;
  await visitOnce(tab, image);
  tab.site.file("/archive.zip", "a download");
  const download = tab.page.waitForEvent("download");
  await tab.page.evaluate(() => location.assign("/archive.zip"));
  await (await download).cancel();
  // What is kept of a link is stored after it was answered: a page that is visited later is stored later.
  tab.site.page("/later/", "<p>later</p>");
  await tab.goto("/later/");
  await tab.until(async (url) => (await caches.match(url)) !== undefined, "/later/");
  const kept = await tab.page.evaluate(async () =>
    (await (await caches.open("siskin-1")).keys()).map((request) => request.url),
  );
  assert.ok(kept.some((url) => url.endsWith(PAGE)));
  assert.ok(!kept.some((url) => url.endsWith("/archive.zip")), kept.join(" "));
  await tab.close({ expected: [/404 \(Not Found\)/] });
});

test("until a new index is kept whole the earlier one answers without a connection", async () => {
  const tab = await Tab.open(browser);
  await visitOnce(tab);
  const other = join(process.env.SISKIN_STARLIGHT_DIR ?? "", "siskin/siskin.json");
  tab.site.file("/siskin/siskin.json", readFileSync(other, "utf8"));
  tab.site.fail(/\.bin$/, "status 500", Number.POSITIVE_INFINITY);
  await tab.page.reload();
  await tab.box.fill("a question");
  await tab.note.getByText("could not").waitFor();
  await answersOffline(tab);
});

test("a tab that has an earlier index open leaves that one answering without a connection", async () => {
  const tab = await Tab.open(browser);
  await visitOnce(tab);
  const other = join(process.env.SISKIN_STARLIGHT_DIR ?? "", "siskin/siskin.json");
  tab.site.file("/siskin/siskin.json", readFileSync(other, "utf8"));
  // The network's files are further ones to be kept.
  await tab.page.locator("siskin-search").evaluate((node) => node.setAttribute("mode", "full"));
  await tab.ask("share data between threads safely");
  await tab.until(async () => {
    const keys = await (await caches.open("siskin-1")).keys();
    return keys.some(({ url }) => url.includes("/encoder/model.onnx"));
  }, undefined);
  await answersOffline(tab);
});

/** What `search.offline` says of a bundle opened with this option. */
function stateOf(tab: Tab, offline: true | string): Promise<string> {
  return tab.page.evaluate(async (offline) => {
    const script = "/siskin/siskin.js";
    const { open } = await import(script);
    const search = await open("/siskin/", { offline });
    return search.offline;
  }, offline);
}

test("an index that was made anew while it was opened is not taken for the one that was", async () => {
  const tab = await Tab.open(browser);
  tab.site.page(PAGE, "");
  tab.site.file(WORKER, 'importScripts("/siskin/siskin-sw.js");');
  await tab.goto(PAGE);
  const release = tab.site.hold(WORKER);
  const state = stateOf(tab, WORKER);
  while (!tab.site.requests.includes(WORKER)) await tab.page.waitForTimeout(20);
  const other = join(process.env.SISKIN_STARLIGHT_DIR ?? "", "siskin/siskin.json");
  tab.site.file("/siskin/siskin.json", readFileSync(other, "utf8"));
  release();
  assert.equal(await state, "unavailable");
  assert.equal(
    await tab.page.evaluate(async () => (await caches.match("/siskin/siskin.json")) === undefined),
    true,
  );
  await tab.close();
});

test("a page that no service worker covers is not said to be ready", async () => {
  const tab = await Tab.open(browser);
  tab.site.page(PAGE, "");
  await tab.goto(PAGE);
  assert.equal(await stateOf(tab, true), "unavailable");
  tab.site.page("/siskin/inside/", "");
  await tab.goto("/siskin/inside/");
  assert.equal(await stateOf(tab, true), "ready");
  await tab.close();
});

test("where the browser's storage fails pages come from the network", async () => {
  const tab = await Tab.open(browser);
  tab.site.page(PAGE, "<p>here");
  tab.site.file(
    WORKER,
    'caches.open = async () => { throw new Error("no storage"); }; importScripts("/siskin/siskin-sw.js");',
  );
  await tab.goto(PAGE);
  await tab.page.evaluate(async (worker) => {
    await navigator.serviceWorker.register(worker);
    await navigator.serviceWorker.ready;
  }, WORKER);
  await tab.page.reload();
  assert.equal(await tab.page.evaluate("navigator.serviceWorker.controller !== null"), true);
  assert.equal(await tab.page.getByText("here").count(), 1);
  await tab.close();
});

test("of readers who save data the files that were used are kept, on every page", async () => {
  const tab = await Tab.open(browser);
  await tab.page.addInitScript(() => {
    Object.defineProperty(navigator, "connection", { value: { saveData: true } });
  });
  await visitOnce(tab);
  await tab.ask("share data between threads safely");
  const shards = () =>
    tab.page.evaluate(async () => {
      const keys = await (await caches.open("siskin-1")).keys();
      return keys.filter(({ url }) => url.endsWith(".bin")).length;
    });
  // What the page has fetched the service worker may fetch again, to keep it.
  const all = new Set(tab.site.requests.filter((path) => path.endsWith(".bin"))).size;
  assert.ok(all > 0 && all < 40, `${all} shards were fetched`);
  await tab.until(async (count) => {
    const keys = await (await caches.open("siskin-1")).keys();
    return keys.filter(({ url }) => url.endsWith(".bin")).length >= count;
  }, all);
  await tab.page.reload();
  await tab.page.waitForFunction(() => "kept" in globalThis);
  assert.equal(await shards(), all);
  await tab.offline(true);
  await tab.site.stop();
  await tab.page.reload();
  await tab.ask("share data between threads safely");
  await tab.close({ expected: [/Failed to load resource|ERR_INTERNET_DISCONNECTED/] });
});
