/** What `<siskin-search>` is before anybody searches, and how the rest of it arrives. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import { launch, Tab } from "./harness.js";
import { stubEngine } from "./stub.js";

const BOX = "<siskin-search></siskin-search><p id='below'>below</p>";

let browser: Browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

async function withTab(
  body: (tab: Tab) => Promise<void>,
  { html = BOX, path = "/test.html", expected = [] as RegExp[] } = {},
): Promise<void> {
  const tab = await Tab.open(browser);
  tab.site.page("/test.html", html);
  stubEngine(tab.site);
  await tab.watchAnswers();
  await tab.goto(path);
  await body(tab);
  await tab.close({ expected });
}

function bundleRequests(tab: Tab): string[] {
  return tab.site.requests
    .filter((path) => path.startsWith("/siskin/"))
    .map((path) => path.replace(/\?.*/, "").replace("/siskin/", ""));
}

test("before the reader turns to the box, only siskin.js is loaded", () =>
  withTab(async (tab) => {
    await tab.box.waitFor();
    await tab.page.mouse.move(400, 400);
    await tab.page.waitForLoadState("networkidle");
    assert.deepEqual(bundleRequests(tab), ["siskin.js"]);
  }));

test("box, worker, module and manifest are asked for before any of them has arrived", () =>
  withTab(async (tab) => {
    const releases = ["siskin-box.js", "siskin-worker.js", "siskin_web_bg.wasm", "siskin.json"].map(
      (name) => tab.site.hold(`/siskin/${name}`),
    );
    await tab.box.focus();
    while (bundleRequests(tab).length < 5) await tab.page.waitForTimeout(20);
    const wanted = ["siskin-box.js", "siskin-worker.js", "siskin.js", "siskin.json"];
    assert.deepEqual(bundleRequests(tab).sort(), [...wanted, "siskin_web_bg.wasm"]);
    for (const release of releases) release();
    await tab.ask("threads");
  }));

test("what is typed before the rest has arrived is asked, and no letter is lost", () =>
  withTab(async (tab) => {
    const release = tab.site.hold("/siskin/siskin-box.js");
    await tab.box.pressSequentially("green ");
    await tab.box.pressSequentially("threads");
    release();
    await tab.page.waitForFunction(
      () => (globalThis as { answered?: string }).answered === "green threads",
    );
    assert.equal(await tab.box.inputValue(), "green threads");
    assert.ok(await tab.box.evaluate((node) => node.matches(":focus")));
  }));

test("a word that is being composed while the rest arrives is left alone", () =>
  withTab(async (tab) => {
    const release = tab.site.hold("/siskin/siskin-box.js");
    await tab.box.focus();
    const client = await tab.page.context().newCDPSession(tab.page);
    const compose = { selectionStart: 2, selectionEnd: 2 };
    await client.send("Input.imeSetComposition", { text: "さび", ...compose });
    release();
    await tab.page.waitForLoadState("networkidle");
    assert.equal(await tab.options.count(), 0);
    await client.send("Input.insertText", { text: "錆" });
    await tab.page.waitForFunction(() => (globalThis as { answered?: string }).answered === "錆");
  }));

test("neither the arrival of the rest nor results move the page", () =>
  withTab(async (tab) => {
    await tab.box.waitFor();
    const place = () => tab.page.locator("#below").boundingBox();
    const before_search = await place();
    await tab.ask("threads");
    assert.deepEqual(await place(), before_search);
  }));

test("when the rest cannot be fetched, the next keystroke tries again", () =>
  withTab(
    async (tab) => {
      // A connection that is cut, the browser opens again by itself, now and then.
      tab.site.fail(/siskin-box/, "status 500", 1);
      const failed = tab.page.evaluate(
        () =>
          new Promise((resolve) => {
            const box = document.querySelector("siskin-search");
            box?.addEventListener("siskin-error", (event) =>
              resolve((event as CustomEvent<{ code: string }>).detail.code),
            );
          }),
      );
      await tab.box.focus();
      assert.equal(await failed, "network");
      await tab.ask("threads");
    },
    { expected: [/Failed to load resource/] },
  ));

test("an element that is taken away while the rest arrives stops its engine", () =>
  withTab(async (tab) => {
    const release = tab.site.hold("/siskin/siskin-box.js");
    await tab.box.focus();
    await tab.page.evaluate(() => document.querySelector("siskin-search")?.remove());
    release();
    await tab.page.waitForLoadState("networkidle");
    while (tab.page.workers().length > 0) await tab.page.waitForTimeout(20);
  }));

test("a bundle that is named while the rest arrives is the one that is asked", () =>
  withTab(async (tab) => {
    tab.site.file("/other/siskin.json", "{}");
    const release = tab.site.hold("/siskin/siskin-box.js");
    await tab.box.focus();
    await tab.page.evaluate(() =>
      document.querySelector("siskin-search")?.setAttribute("bundle", "/other/"),
    );
    release();
    await tab.ask("threads");
    assert.ok(tab.site.requests.includes("/other/siskin.json"));
  }));
