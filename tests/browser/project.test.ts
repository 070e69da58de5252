/** The project's own site: its links, its box, its demo, in both themes and on a phone. */
import assert from "node:assert/strict";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import { violations } from "./axe.js";
import { indexedSite, launch, Tab } from "./harness.js";

const FOLDER = indexedSite("SISKIN_PROJECT_DIR");
const PAGES = readdirSync(FOLDER, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".html") && !/^(demo\/site|siskin)\//.test(name))
  .map((name) => `/${name.replace(/(^|\/)index\.html$/, "$1")}`)
  .sort();
const POLICY =
  /default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self';.*require-trusted-types-for 'script'/;
const PHONE = { width: 360, height: 640 };
const QUESTION = "how do I make the search work offline";

let browser: Browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

async function withSite(
  body: (tab: Tab) => Promise<void>,
  colorScheme: "light" | "dark" = "light",
): Promise<void> {
  const tab = await Tab.open(browser, { folder: FOLDER, colorScheme });
  await tab.watchAnswers();
  await body(tab);
  await tab.close();
}

/** What a page points to, and what of it can be pointed to. */
interface Outline {
  targets: string[];
  ids: string[];
  policy: string;
}

function outline(tab: Tab): Promise<Outline> {
  return tab.page.evaluate(() => {
    const all = <T extends Element>(selector: string) => [
      ...document.querySelectorAll<T>(selector),
    ];
    return {
      targets: [
        ...all<HTMLAnchorElement>("a[href], link[href]").map(({ href }) => href),
        ...all<HTMLImageElement>("img[src], script[src]").map(({ src }) => src),
      ],
      ids: all("[id]").map(({ id }) => id),
      policy: document.querySelector("meta[http-equiv]")?.getAttribute("content") ?? "",
    };
  });
}

test("no link, picture or anchor leads nowhere, and every page has the strict policy", () =>
  withSite(async (tab) => {
    const outlines = new Map<string, Outline>();
    for (const page of PAGES) {
      await tab.goto(page);
      outlines.set(page, await outline(tab));
    }
    assert.ok(outlines.size > 20, `${outlines.size} pages`);
    for (const [page, { targets, policy }] of outlines) {
      assert.match(policy, POLICY, page);
      for (const target of targets) assert.ok(leads(target, outlines), `${page}: ${target}`);
    }
  }));

/** Whether an address of the site has a file, and its anchor an element; others are not looked at. */
function leads(target: string, outlines: Map<string, Outline>): boolean {
  const { hostname, pathname, hash } = new URL(target);
  if (hostname !== "127.0.0.1") return true;
  if (hash !== "") {
    return outlines.get(pathname)?.ids.includes(decodeURIComponent(hash.slice(1))) ?? false;
  }
  const path = join(FOLDER, decodeURIComponent(pathname));
  return existsSync(path) && (statSync(path).isFile() || existsSync(join(path, "index.html")));
}

for (const colorScheme of ["light", "dark"] as const) {
  test(`axe-core finds no fault with any page, ${colorScheme}`, () =>
    withSite(async (tab) => {
      for (const page of PAGES) {
        await tab.goto(page);
        assert.deepEqual(await violations(tab), [], page);
      }
    }, colorScheme));
}

test("no page of the site is wider than a phone", () =>
  withSite(async (tab) => {
    await tab.page.setViewportSize(PHONE);
    for (const page of PAGES) {
      await tab.goto(page);
      const overflow = await tab.page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      assert.ok(overflow <= 0, `${page}: ${overflow} pixels`);
    }
  }));

test("the first page's box answers a question about Siskin itself", () =>
  withSite(async (tab) => {
    await tab.goto("/");
    const box = tab.page.getByRole("combobox", { name: "Ask these pages" });
    await box.fill(QUESTION);
    await tab.page.waitForFunction(
      (wanted) => (globalThis as unknown as { answered?: string }).answered === wanted,
      QUESTION,
    );
    const links = await tab.options.evaluateAll((nodes) =>
      nodes.map((node) => (node as HTMLAnchorElement).pathname),
    );
    const pages = [...new Set(links)].slice(0, 3);
    assert.ok(pages.includes("/offline/"), pages.join(" "));
  }));

test("every other page has the box in its header, and a key opens it", () =>
  withSite(async (tab) => {
    await tab.goto("/format/");
    await tab.page.keyboard.press("/");
    await tab.ask(QUESTION);
    await tab.box.press("ArrowDown");
    const href = (await tab.options.first().getAttribute("href")) ?? "";
    await tab.box.press("Enter");
    await tab.page.waitForURL(href);
  }));

/** A line such as "21 KB in 3 files, 12 ms for 2 questions". */
const COST =
  /^(?:([\d.]+) KB in (\d+) files?|nothing fetched), [\d.,]+ ms(?: for (\d+) questions?)?$/;

function cost(tab: Tab, side: string, of: "question" | "session") {
  return tab.page.locator(`#${side} [data-cost=${of}]`);
}

/** Waits until the demo has answered by both searches. */
async function demonstrated(tab: Tab, question: string): Promise<void> {
  await tab.page.getByText(new RegExp(`^“${question}”: \\d results from Siskin, \\d`)).waitFor();
}

test("the demo shows bytes and time of both searches, question by question", () =>
  withSite(async (tab) => {
    await tab.goto("/demo/");
    const first = "share data between threads safely";
    await tab.page.getByRole("button", { name: first }).click();
    await demonstrated(tab, first);
    for (const side of ["siskin", "pagefind"]) {
      const asked = tab.site.requests.filter((path) => path.startsWith(`/demo/site/${side}/`));
      await cost(tab, side, "question").getByText(`in ${asked.length} files`).waitFor();
      const [, kilobytes] =
        COST.exec((await cost(tab, side, "question").textContent()) ?? "") ?? [];
      assert.ok(Number(kilobytes) > 50, `${side}: ${kilobytes} KB`);
      const results = tab.page.locator(`#${side} .results a`);
      assert.ok((await results.count()) > 0, side);
      const addresses = await results.evaluateAll((nodes) =>
        nodes.map((node) => (node as HTMLAnchorElement).pathname),
      );
      assert.ok(
        addresses.every((path) => existsSync(join(FOLDER, path))),
        addresses.join(" "),
      );
    }
    const second = "crash the program on purpose";
    await tab.page.getByRole("searchbox", { name: "Your question" }).fill(second);
    await demonstrated(tab, second);
    for (const side of ["siskin", "pagefind"]) {
      const session = (await cost(tab, side, "session").textContent()) ?? "";
      assert.equal(COST.exec(session)?.[3], "2", `${side}: ${session}`);
      const question = (await cost(tab, side, "question").textContent()) ?? "";
      assert.match(question, COST, side);
    }
    assert.deepEqual(await violations(tab), []);
  }));

test("the demo's network reads the question when it is asked to", () =>
  withSite(async (tab) => {
    await tab.goto("/demo/?q=who%20frees%20the%20memory");
    await demonstrated(tab, "who frees the memory");
    const release = tab.site.hold("/demo/site/siskin/encoder/model.onnx");
    const asked = tab.page.waitForRequest(/\/encoder\/model\.onnx\b/);
    await tab.page.getByLabel("Siskin reads it by").selectOption("full");
    await asked;
    // The browser tells of the files that came before the network: they end no question.
    await tab.page.waitForFunction(() =>
      performance.getEntriesByType("resource").some(({ name }) => /\/tokenizer\.json\b/.test(name)),
    );
    assert.equal(await cost(tab, "siskin", "question").textContent(), "…");
    assert.match((await cost(tab, "siskin", "session").textContent()) ?? "", / for 1 question$/);
    release();
    await cost(tab, "siskin", "session").getByText("for 2 questions").waitFor();
    assert.match((await cost(tab, "siskin", "question").textContent()) ?? "", COST);
  }));
