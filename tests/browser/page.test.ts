/** `<siskin-search>` in its page: the modal, shortcuts and themes, with a stub in the engine's place. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import { launch, Tab } from "./harness.js";
import { stubEngine } from "./stub.js";

const MODAL = `<input aria-label="Other"><p><a href="#x">link</a></p><siskin-search modal></siskin-search>
  <p style="height: 150rem"></p><h2 id="x">x</h2>`;

let browser: Browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

interface Setting {
  html?: string;
  policy?: string;
  path?: string;
  colorScheme?: "dark";
}

async function withTab(body: (tab: Tab) => Promise<void>, setting: Setting = {}): Promise<void> {
  const { colorScheme } = setting;
  const tab = await Tab.open(browser, colorScheme === undefined ? {} : { colorScheme });
  tab.site.page("/test.html", setting.html ?? MODAL, setting.policy);
  stubEngine(tab.site);
  await tab.watchAnswers();
  await tab.goto(setting.path ?? "/test.html");
  await body(tab);
  await tab.close();
}

function openButton(tab: Tab) {
  return tab.page.getByRole("button", { name: "Search" });
}

function dialog(tab: Tab) {
  return tab.page.getByRole("dialog");
}

test("the button opens the box, Escape closes it, and the focus goes back", () =>
  withTab(async (tab) => {
    assert.equal(await dialog(tab).isVisible(), false);
    await openButton(tab).click();
    await tab.ask("threads");
    assert.ok(await tab.options.first().isVisible());
    await tab.box.press("Escape");
    assert.equal(await dialog(tab).isVisible(), false);
    assert.ok(await openButton(tab).evaluate((node) => node.matches(":focus")));
    await openButton(tab).click();
    assert.equal(await tab.box.inputValue(), "threads");
  }));

test("the modal has the box's name", () =>
  withTab(async (tab) => {
    await tab.page.getByRole("button", { name: /Search/ }).click();
    await tab.page.getByRole("dialog", { name: "Search" }).waitFor();
  }));

test("a modal loads nothing but siskin.js before it is opened, and loses no key", () =>
  withTab(async (tab) => {
    await openButton(tab).waitFor();
    await tab.page.waitForLoadState("networkidle");
    assert.ok(!tab.site.requests.some((path) => path.includes("siskin-box")));
    const release = tab.site.hold("/siskin/siskin-box.js");
    await tab.page.keyboard.press("/");
    await tab.page.keyboard.type("green threads");
    release();
    await tab.page.waitForFunction(
      () => (globalThis as { answered?: string }).answered === "green threads",
    );
    assert.equal(await tab.box.inputValue(), "green threads");
  }));

test("shortcuts lead to the modal from wherever the reader is, but not while typing", () =>
  withTab(async (tab) => {
    await openButton(tab).waitFor();
    const link = tab.page.getByRole("link", { name: "link" });
    for (const keys of ["Control+k", "/"]) {
      await link.focus();
      await tab.page.keyboard.press(keys);
      await tab.box.waitFor();
      await tab.box.press("Escape");
      assert.ok(await link.evaluate((node) => node.matches(":focus")), keys);
    }
    const other = tab.page.getByLabel("Other");
    await other.focus();
    await tab.page.keyboard.type("a/b");
    await tab.page.keyboard.press("Control+k");
    assert.equal(await other.inputValue(), "a/b");
    assert.equal(await dialog(tab).isVisible(), false);
  }));

test("what is typed into the box is no shortcut of the page", () =>
  withTab(async (tab) => {
    await openButton(tab).click();
    await tab.page.evaluate(() => {
      const seen: string[] = [];
      document.addEventListener("keydown", ({ key }) => seen.push(key));
      Object.assign(globalThis, { seen });
    });
    await tab.box.press("s");
    await tab.box.press("ArrowRight");
    await tab.box.press("Control+s");
    assert.deepEqual(await tab.page.evaluate("seen"), ["Control", "s"]);
  }));

test("a box without a modal is focused by the page's own shortcut", () =>
  withTab(
    async (tab) => {
      await tab.box.waitFor();
      await tab.page.keyboard.press("/");
      assert.equal(await tab.page.evaluate(() => document.activeElement?.localName), "body");
      await tab.page.keyboard.press("Alt+s");
      await tab.page.keyboard.type("threads");
      assert.equal(await tab.box.inputValue(), "threads");
    },
    { html: "<siskin-search shortcuts='alt+s'></siskin-search>" },
  ));

test("of two boxes the first that is visible has the shortcut", () =>
  withTab(
    async (tab) => {
      await tab.page.getByLabel("Shown").waitFor();
      await tab.page.keyboard.press("/");
      assert.equal(
        await tab.page.evaluate(() => document.activeElement?.getAttribute("label")),
        "Shown",
      );
    },
    {
      html: `<siskin-search label='Hidden' hidden></siskin-search>
        <siskin-search label='Shown'></siskin-search><siskin-search label='Second'></siskin-search>`,
    },
  ));

test("a press beside the box, its button and a followed link close the modal", () =>
  withTab(async (tab) => {
    await openButton(tab).click();
    await tab.ask("threads");
    await tab.page.mouse.click(5, 5);
    assert.equal(await dialog(tab).isVisible(), false);
    await openButton(tab).click();
    await tab.page.getByRole("button", { name: "Close" }).click();
    assert.equal(await dialog(tab).isVisible(), false);
    await openButton(tab).click();
    const first = tab.options.first();
    await first.evaluate((node) => node.setAttribute("href", "#x"));
    await first.click();
    assert.equal(await dialog(tab).isVisible(), false);
    assert.equal(new URL(tab.page.url()).hash, "#x");
  }));

test("a question in the address opens the modal", () =>
  withTab(
    async (tab) => {
      await tab.options.first().waitFor();
      assert.equal(await tab.box.inputValue(), "threads");
    },
    {
      html: "<siskin-search modal query-parameter='q'></siskin-search>",
      path: "/test.html?q=threads",
    },
  ));

test("on a small screen the modal fills it, and keeps its width at twice the size of letters", () =>
  withTab(async (tab) => {
    await tab.page.setViewportSize({ width: 360, height: 640 });
    await openButton(tab).click();
    await tab.ask("threads");
    const box = await dialog(tab).boundingBox();
    assert.deepEqual([box?.x, box?.width, box?.height], [0, 360, 640]);
    await tab.page.addStyleTag({ content: "html { font-size: 200% }" });
    const overflow = await tab.page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    assert.ok(overflow <= 0, `${overflow} pixels to scroll sideways`);
  }));

const DARK = "rgb(22, 25, 29)";
const LIGHT = "rgb(255, 255, 255)";

async function background(tab: Tab): Promise<string> {
  await tab.box.waitFor();
  return tab.box.evaluate((node) => getComputedStyle(node).backgroundColor);
}

test("the element's theme, the page's theme and the reader's scheme, in this order", async () => {
  const html = "<siskin-search></siskin-search>";
  await withTab(async (tab) => assert.equal(await background(tab), LIGHT), { html });
  const themes = async (tab: Tab) => {
    assert.equal(await background(tab), DARK);
    const set = (body: string) => tab.page.evaluate(body);
    await set("document.documentElement.dataset.theme = 'light'");
    assert.equal(await background(tab), LIGHT);
    await set("document.querySelector('siskin-search').dataset.theme = 'dark'");
    assert.equal(await background(tab), DARK);
    await set("delete document.querySelector('siskin-search').dataset.theme");
    await set("delete document.documentElement.dataset.theme");
    await tab.page.emulateMedia({ colorScheme: "light" });
    assert.equal(await background(tab), LIGHT);
    await set("document.documentElement.classList.add('dark')");
    assert.equal(await background(tab), DARK);
  };
  await withTab(themes, { html, colorScheme: "dark" });
});

test("forced colours and reduced motion are respected", () =>
  withTab(
    async (tab) => {
      await tab.page.emulateMedia({ forcedColors: "active", reducedMotion: "reduce" });
      await tab.ask("threads");
      await tab.box.press("ArrowDown");
      const outline = await tab.options
        .first()
        .evaluate((node) => getComputedStyle(node).outlineStyle);
      assert.equal(outline, "solid");
      const animation = await tab.note.evaluate((node) => {
        node.classList.add("busy");
        return getComputedStyle(node, "::after").animationName;
      });
      assert.equal(animation, "none");
    },
    { html: "<siskin-search></siskin-search>" },
  ));

test("a finger finds targets of 44 pixels", async () => {
  const context = await browser.newContext({ hasTouch: true, isMobile: true });
  const tab = await Tab.open(browser, {});
  await context.close();
  tab.site.page("/test.html", "<siskin-search limit='2'></siskin-search>");
  stubEngine(tab.site);
  await tab.watchAnswers();
  const client = await tab.page.context().newCDPSession(tab.page);
  const features = [{ name: "pointer", value: "coarse" }];
  await client.send("Emulation.setTouchEmulationEnabled", { enabled: true });
  await client.send("Emulation.setEmulatedMedia", { features });
  await tab.goto("/test.html");
  await tab.ask("threads");
  const isCoarse = await tab.page.evaluate(() => matchMedia("(pointer: coarse)").matches);
  assert.ok(isCoarse);
  const heights = await tab.page
    .locator("siskin-search")
    .evaluate((node) =>
      [...(node.shadowRoot?.querySelectorAll("input, button, a") ?? [])]
        .map((target) => target.getBoundingClientRect().height)
        .filter((height) => height > 0),
    );
  assert.ok(heights.length > 5 && heights.every((height) => height >= 44), heights.join(" "));
  await tab.close();
});

test("the box speaks the page's language, fetched when it is needed", () =>
  withTab(
    async (tab) => {
      const box = tab.page.getByRole("combobox", { name: "Suche" });
      await box.waitFor();
      assert.ok(!tab.site.requests.some((path) => path.includes("siskin-words")));
      await box.fill("threads");
      await tab.page.getByRole("button", { name: "Mehr anzeigen" }).waitFor();
      await tab.status.getByText("30 Ergebnisse für „threads“").waitFor({ state: "attached" });
      const words = tab.site.requests.filter((path) => path.includes("siskin-words"));
      assert.deepEqual(
        words.map((path) => path.replace(/\?.*/, "")),
        ["/siskin/siskin-words-de.js"],
      );
    },
    { html: "<div lang='de-AT'><siskin-search></siskin-search></div>" },
  ));

test("where its words cannot be had, the box speaks English", async () => {
  const tab = await Tab.open(browser);
  tab.site.page("/test.html", "<siskin-search lang='de'></siskin-search>");
  tab.site.fail(/siskin-words/, "status 500", 9);
  stubEngine(tab.site);
  await tab.watchAnswers();
  await tab.goto("/test.html");
  await tab.ask("threads");
  await tab.page.getByRole("button", { name: "Show more" }).waitFor();
  await tab.close({ expected: [/Failed to load resource/] });
});

test("in Arabic the box is laid out from right to left", () =>
  withTab(
    async (tab) => {
      await tab.ask("threads");
      const section = tab.page.locator("siskin-search .section").first();
      const sides = await section.evaluate((node) => {
        const { direction, borderRightWidth, borderLeftWidth } = getComputedStyle(node);
        return [direction, borderRightWidth, borderLeftWidth];
      });
      assert.deepEqual(sides, ["rtl", "2px", "0px"]);
    },
    { html: "<siskin-search lang='ar'></siskin-search>" },
  ));
