/** `<siskin-search>` in Chromium, on the built package and the indexed Rust Book. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import { launch, sampleSite, Tab } from "./harness.js";

const BOX = "<siskin-search></siskin-search><a href='/'>after</a>";
const QUESTION = "share data between threads safely";

let browser: Browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

async function withTab(
  body: (tab: Tab) => Promise<void>,
  page: { html?: string; policy?: string; path?: string; expected?: RegExp[] } = {},
): Promise<void> {
  const tab = await Tab.open(browser);
  tab.site.page("/test.html", page.html ?? BOX, page.policy);
  await tab.watchAnswers();
  await tab.goto(page.path ?? "/test.html");
  await body(tab);
  await tab.close({ expected: page.expected ?? [] });
}

test("a question is answered with real links, headings, excerpts and marks", () =>
  withTab(async (tab) => {
    await tab.ask(QUESTION);
    const first = tab.options.first();
    assert.match((await first.getAttribute("href")) ?? "", /^http:\/\/127\.0\.0\.1:\d+\/ch\d\d/);
    const links = await tab.options.evaluateAll((nodes) =>
      nodes.map((node) => (node as HTMLAnchorElement).href),
    );
    assert.ok(links.slice(0, 3).some((link) => link.includes("/ch16-03-shared-state.html")));
    assert.notEqual(await first.locator(".title").textContent(), "");
    const group = tab.groups.first();
    assert.notEqual(await group.locator(".excerpt").first().textContent(), "");
    assert.ok((await group.locator("mark").count()) > 0);
  }));

test("a result's address opens the page at its heading", () =>
  withTab(async (tab) => {
    await tab.ask(QUESTION);
    await tab.box.press("ArrowDown");
    const href = await tab.options.first().getAttribute("href");
    await tab.box.press("Enter");
    await tab.page.waitForURL(href ?? "");
    const { hash } = new URL(tab.page.url());
    const exists = await tab.page.evaluate(
      (id) => id === "" || document.getElementById(decodeURIComponent(id.slice(1))) !== null,
      hash,
    );
    assert.ok(exists, `${hash} is not on the page`);
  }));

test("arrows move the active option while the focus stays in the box", () =>
  withTab(async (tab) => {
    await tab.ask(QUESTION);
    const active = async () => tab.box.getAttribute("aria-activedescendant");
    assert.equal(await tab.box.getAttribute("aria-expanded"), "true");
    assert.equal(await active(), null);
    await tab.box.press("ArrowDown");
    assert.equal(await active(), "option-0");
    await tab.box.press("ArrowDown");
    assert.equal(await active(), "option-1");
    assert.equal(await tab.options.nth(1).getAttribute("aria-selected"), "true");
    assert.equal(await tab.options.nth(0).getAttribute("aria-selected"), "false");
    await tab.box.press("ArrowUp");
    await tab.box.press("ArrowUp");
    assert.equal(await active(), null);
    await tab.box.press("ArrowUp");
    assert.equal(await active(), `option-${(await tab.options.count()) - 1}`);
    assert.ok(
      await tab.box.evaluate((node) => (node.getRootNode() as ShadowRoot).activeElement === node),
    );
  }));

test("Escape closes the list, then clears the box", () =>
  withTab(async (tab) => {
    await tab.ask(QUESTION);
    await tab.box.press("Escape");
    assert.equal(await tab.options.first().isVisible(), false);
    assert.equal(await tab.box.getAttribute("aria-expanded"), "false");
    assert.equal(await tab.box.inputValue(), QUESTION);
    await tab.box.press("Escape");
    assert.equal(await tab.box.inputValue(), "");
  }));

test("an arrow opens the closed list, Tab goes to its buttons, leaves and closes it", () =>
  withTab(async (tab) => {
    await tab.ask(QUESTION);
    await tab.box.press("Escape");
    await tab.box.press("ArrowDown");
    assert.equal(await tab.options.first().isVisible(), true);
    await tab.box.press("Tab");
    for (const name of ["Why these results?", "Show more"]) {
      const button = tab.page.getByRole("button", { name });
      assert.ok(await button.evaluate((node) => node.matches(":focus")), name);
      await button.press("Tab");
    }
    assert.equal(await tab.options.first().isVisible(), false);
    assert.equal(await tab.page.evaluate(() => document.activeElement?.textContent), "after");
  }));

test("the box and the list have names, and the status tells the count once typing rests", () =>
  withTab(
    async (tab) => {
      await tab.ask(QUESTION);
      await tab.page.getByRole("combobox", { name: "Ask" }).waitFor();
      await tab.page.getByRole("listbox", { name: "Ask" }).waitFor();
      await tab.status
        .getByText(new RegExp(`^\\d+ results for “${QUESTION}”$`))
        .waitFor({ state: "attached" });
    },
    { html: "<siskin-search label='Ask'></siskin-search>" },
  ));

test("nonsense finds nothing and says so", () =>
  withTab(async (tab) => {
    await tab.ask("zzzz qqqq");
    assert.equal(
      await tab.note.textContent(),
      "No results for “zzzz qqqq”. Try other or fewer words.",
    );
    assert.equal(await tab.options.count(), 0);
  }));

test("signs without a letter get an explanation, not a failure", () =>
  withTab(async (tab) => {
    await tab.box.fill("?!");
    await tab.note.getByText("The query is empty").waitFor();
    assert.equal(await tab.page.getByRole("button", { name: "Try again" }).isVisible(), false);
  }));

test("typing fast ends with the answer to the last question", () =>
  withTab(async (tab) => {
    await tab.ask("unsafe");
    await tab.box.fill("");
    await tab.box.pressSequentially("install rust", { delay: 5 });
    await tab.status.getByText("for “install rust”").waitFor({ state: "attached" });
    const links = await tab.options.evaluateAll((nodes) =>
      nodes.map((node) => (node as HTMLAnchorElement).pathname),
    );
    assert.ok(links.slice(0, 3).includes("/ch01-01-installation.html"), links.join(" "));
  }));

test("mode and limit are attributes, and changing them asks again", () =>
  withTab(
    async (tab) => {
      await tab.ask(QUESTION);
      assert.equal(await tab.groups.count(), 3);
      await tab.page.locator("siskin-search").evaluate((node) => node.setAttribute("limit", "5"));
      await tab.groups.nth(4).waitFor();
      await tab.page
        .locator("siskin-search")
        .evaluate((node) => node.setAttribute("mode", "words"));
      await tab.page.waitForFunction(
        () => (globalThis as unknown as { answeredMode?: string }).answeredMode === "words",
      );
    },
    { html: "<siskin-search limit='3'></siskin-search>" },
  ));

for (const { bundle, encoder } of [
  { bundle: "siskin", encoder: "siskin-en" },
  { bundle: "siskin-small", encoder: "siskin-en-small" },
]) {
  test(`full mode answers after downloading ${encoder}`, () =>
    withTab(
      async (tab) => {
        const manifest = join(sampleSite(), bundle, "encoder/encoder.json");
        assert.equal(JSON.parse(readFileSync(manifest, "utf8")).name, encoder);
        await tab.ask("crash the program on purpose");
        await tab.page.waitForFunction(
          () => (globalThis as unknown as { answeredMode?: string }).answeredMode === "full",
        );
        const models = tab.site.requests.filter((path) => path.includes("model.onnx"));
        assert.deepEqual(models.map(withoutQuery), [`/${bundle}/encoder/model.onnx`]);
        const links = await tab.options.evaluateAll((nodes) =>
          nodes.map((node) => (node as HTMLAnchorElement).href).join(" "),
        );
        assert.match(links, /ch09-0[13]/);
      },
      { html: `<siskin-search mode='full' bundle='/${bundle}/'></siskin-search>` },
    ));
}

function withoutQuery(path: string): string {
  return path.replace(/\?.*/, "");
}

test("when the network cannot be loaded, the tables' results stay", () =>
  withTab(
    async (tab) => {
      tab.site.fail(/encoder\.json/, "status 500", 99);
      await tab.ask(QUESTION);
      await tab.note.getByText("Check your connection").waitFor();
      assert.ok((await tab.options.count()) > 0);
      await tab.page.getByRole("button", { name: "Try again" }).waitFor();
    },
    { html: "<siskin-search mode='full'></siskin-search>", expected: [/Failed to load resource/] },
  ));

const STRICT = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'";

test("a strict content policy is enough", () =>
  withTab((tab) => tab.ask(QUESTION), { policy: STRICT }));

test("Trusted Types are satisfied by the policy `siskin`", () =>
  withTab((tab) => tab.ask(QUESTION), {
    policy: `${STRICT}; require-trusted-types-for 'script'; trusted-types siskin`,
  }));

test("where workers are refused, the page's own thread answers", () =>
  withTab((tab) => tab.ask(QUESTION), {
    policy: `${STRICT}; worker-src 'none'`,
    expected: [/worker-src|Content Security Policy/i],
  }));

test("one failed request is not noticed", () =>
  withTab(
    async (tab) => {
      tab.site.fail(/words-/, "status 500", 1);
      tab.site.fail(/codes-/, "altered byte", 1);
      tab.site.fail(/records-/, "cut connection", 1);
      await tab.ask(QUESTION);
    },
    { expected: [/Failed to load resource/] },
  ));

test("a broken connection is told, and trying again works", () =>
  withTab(
    async (tab) => {
      tab.site.fail(/words-/, "cut connection", 999);
      await tab.box.fill(QUESTION);
      await tab.note.getByText("Search could not be loaded. Check your connection.").waitFor();
      tab.site.heal();
      await tab.page.getByRole("button", { name: "Try again" }).click();
      await tab.options.first().waitFor();
    },
    { expected: [/Failed to load resource/] },
  ));

test("damaged files are told, and a later question works once they are mended", () =>
  withTab(async (tab) => {
    tab.site.fail(/codes-/, "altered byte", 99);
    await tab.box.fill(QUESTION);
    await tab.note.getByText("its files on this site are damaged").waitFor();
    tab.site.heal();
    await tab.ask("anonymous functions");
  }));
