/** The list of `<siskin-search>`, with a stub in the engine's place. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import { launch, Tab } from "./harness.js";
import { type Answers, stubEngine } from "./stub.js";

const BOX = "<siskin-search></siskin-search><a href='/'>after</a>";

let browser: Browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

interface Setting {
  html?: string;
  answers?: Answers;
  policy?: string;
  path?: string;
}

async function withTab(body: (tab: Tab) => Promise<void>, setting: Setting = {}): Promise<void> {
  const tab = await Tab.open(browser);
  tab.site.page("/test.html", setting.html ?? BOX, setting.policy);
  stubEngine(tab.site, setting.answers);
  await tab.watchAnswers();
  await tab.goto(setting.path ?? "/test.html");
  await body(tab);
  await tab.close();
}

function answeredMode(tab: Tab, mode: string): Promise<unknown> {
  return tab.page.waitForFunction(
    (wanted) => (globalThis as { answeredMode?: string }).answeredMode === wanted,
    mode,
  );
}

/** Titles of the pages in the list, in their order. */
function titles(tab: Tab): Promise<string[]> {
  return tab.page.locator("siskin-search .title").allTextContents();
}

test("a page is a named group of links to itself and to its sections", () =>
  withTab(async (tab) => {
    await tab.ask("threads");
    const group = tab.page.getByRole("listbox").getByRole("group", { name: "Page 2", exact: true });
    const links = await group
      .getByRole("option")
      .evaluateAll((nodes) => nodes.map((node) => (node as HTMLAnchorElement).href));
    const anchors = ["", "#part-1", "#part-2", "#part-3"];
    assert.deepEqual(
      links.map((link) => link.replace(/:~:.*/, "")),
      anchors.map((anchor) => `${tab.site.origin}/page-2.html${anchor}`),
    );
    assert.equal(await group.locator("mark").first().textContent(), "threads");
  }));

test("one section alone is shown with its page, in one row", () =>
  withTab(
    async (tab) => {
      await tab.ask("one");
      assert.equal(await tab.options.count(), 1);
      assert.equal(await tab.options.first().locator(".excerpt").textContent(), "Text.");
      assert.equal(await tab.page.locator(".reason").textContent(), "cancel ≈ abort");
    },
    {
      answers: {
        one: [
          {
            url: "/one.html#x",
            title: "One",
            heading: "Part",
            excerpt: "Text.",
            matches: [{ kind: "meaning", query: "cancel", text: "abort" }],
          },
        ],
      },
    },
  ));

test("“Show more” adds the next results until there are no others", () =>
  withTab(
    async (tab) => {
      await tab.ask("threads");
      const more = tab.page.getByRole("button", { name: "Show more" });
      const counts = [];
      for (const wanted of [12, 24, 30]) {
        await tab.page.waitForFunction(
          (count) =>
            document.querySelector("siskin-search")?.shadowRoot?.querySelectorAll("[role=group]")
              .length === count,
          wanted,
        );
        counts.push(await tab.page.getByRole("group").count());
        if (wanted < 30) await more.click();
      }
      assert.deepEqual(counts, [12, 24, 30]);
      assert.equal(await more.isVisible(), false);
      assert.ok(await tab.box.evaluate((node) => node.matches(":focus")));
    },
    { html: "<siskin-search limit='12'></siskin-search>" },
  ));

test("results that stay keep their nodes and the place of the list", () =>
  withTab(async (tab) => {
    await tab.ask("threads");
    await tab.page.evaluate(() => {
      const root = document.querySelector("siskin-search")?.shadowRoot;
      const groups = root?.querySelectorAll("[role=group]") ?? [];
      for (const group of groups) Object.assign(group, { known: true });
      const changes: string[] = [];
      const list = root?.querySelector("[role=listbox]");
      if (list) {
        new MutationObserver((records) => {
          for (const { addedNodes } of records) changes.push(...[...addedNodes].map(String));
        }).observe(list, { childList: true });
      }
      Object.assign(globalThis, { changes });
    });
    await tab.ask("thread pools");
    const { known, changes } = await tab.page.evaluate(() => ({
      known: [
        ...(document.querySelector("siskin-search")?.shadowRoot?.querySelectorAll("[role=group]") ??
          []),
      ].every((group) => "known" in group),
      changes: (globalThis as unknown as { changes: string[] }).changes,
    }));
    assert.equal(known, true);
    assert.deepEqual(changes, [], "no group is moved");
    assert.match((await tab.options.nth(1).textContent()) ?? "", /thread pools/);
  }));

test("refined results take the place of the tables' ones while nobody is choosing", () =>
  withTab(
    async (tab) => {
      const release = tab.site.hold("/network");
      await tab.ask("threads");
      assert.equal((await titles(tab))[0], "Page 0");
      release();
      await answeredMode(tab, "full");
      assert.equal((await titles(tab))[0], "Page 29");
    },
    { html: "<siskin-search encoder='idle'></siskin-search>" },
  ));

test("refined results move nothing that is in view while the pointer is over the list", () =>
  withTab(
    async (tab) => {
      const release = tab.site.hold("/network");
      await tab.ask("threads");
      const third = tab.options.nth(2);
      await third.hover();
      const place = await third.boundingBox();
      const before_refining = await titles(tab);
      release();
      await answeredMode(tab, "full");
      assert.deepEqual(await third.boundingBox(), place);
      const after_refining = await titles(tab);
      assert.equal(after_refining[0], "Page 0");
      assert.notDeepEqual(after_refining, before_refining);
      assert.ok(after_refining.includes("Page 29"));
    },
    { html: "<siskin-search encoder='idle'></siskin-search>" },
  ));

test("an active option stays active when results are refined", () =>
  withTab(
    async (tab) => {
      const release = tab.site.hold("/network");
      await tab.ask("threads");
      await tab.box.press("ArrowDown");
      await tab.box.press("ArrowDown");
      const active = await tab.box.getAttribute("aria-activedescendant");
      release();
      await answeredMode(tab, "full");
      assert.equal(await tab.box.getAttribute("aria-activedescendant"), active);
      assert.equal(await tab.options.nth(1).getAttribute("aria-selected"), "true");
    },
    { html: "<siskin-search encoder='idle'></siskin-search>" },
  ));

test("`on-open` fetches the network when the reader turns to the box, `off` never", () =>
  withTab(
    async (tab) => {
      const [first, second] = [tab.page.getByLabel("Eager"), tab.page.getByLabel("Modest")];
      await second.fill("threads");
      await tab.page.waitForFunction(() => "answered" in globalThis);
      assert.ok(!tab.site.requests.includes("/network"));
      await first.focus();
      while (!tab.site.requests.includes("/network")) await tab.page.waitForTimeout(20);
    },
    {
      html: `<siskin-search label='Eager' encoder='on-open'></siskin-search>
        <siskin-search label='Modest'></siskin-search>`,
    },
  ));

test("readers who save data get no network unasked", () =>
  withTab(
    async (tab) => {
      await tab.page.evaluate(() =>
        Object.defineProperty(navigator, "connection", { value: { saveData: true } }),
      );
      await tab.ask("threads");
      await tab.page.waitForLoadState("networkidle");
      assert.ok(!tab.site.requests.includes("/network"));
    },
    { html: "<siskin-search encoder='idle'></siskin-search>" },
  ));
