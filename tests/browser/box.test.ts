/** The list of `<siskin-search>`, with a stub in the engine's place. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import type { Facet } from "../../www/src/api.js";
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
  facets?: Facet[];
  policy?: string;
  path?: string;
}

async function withTab(body: (tab: Tab) => Promise<void>, setting: Setting = {}): Promise<void> {
  const tab = await Tab.open(browser);
  tab.site.page("/test.html", setting.html ?? BOX, setting.policy);
  stubEngine(tab.site, setting);
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

test("sections without addresses of their own are all shown", () => {
  const section = (heading: string) => ({
    url: "/one.html",
    heading,
    excerpt: "Text.",
    matches: [],
  });
  const sections = [section("First"), section("Second")];
  return withTab(
    async (tab) => {
      await tab.ask("one");
      assert.deepEqual(await tab.page.locator("siskin-search .heading").allTextContents(), [
        "First",
        "Second",
      ]);
    },
    { answers: { one: [{ url: "/one.html", title: "One", sections }] } },
  );
});

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
      const release = tab.site.hold("/siskin/network");
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
      const release = tab.site.hold("/siskin/network");
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
      const release = tab.site.hold("/siskin/network");
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
      assert.ok(!tab.site.requests.includes("/siskin/network"));
      await first.focus();
      while (!tab.site.requests.includes("/siskin/network")) await tab.page.waitForTimeout(20);
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
      assert.ok(!tab.site.requests.includes("/siskin/network"));
    },
    { html: "<siskin-search encoder='idle'></siskin-search>" },
  ));

test("links lead to the matched words, unless the page says otherwise", () =>
  withTab(
    async (tab) => {
      const hrefs = async (label: string) => {
        await tab.page.getByLabel(label).and(tab.box).fill("threads");
        const list = tab.page.getByRole("listbox", { name: label });
        await list.getByRole("option").first().waitFor();
        const links = await list
          .getByRole("option")
          .evaluateAll((nodes) => nodes.map((node) => node.getAttribute("href")));
        return links.slice(0, 2).map((link) => link?.slice(tab.site.origin.length));
      };
      const words = "Here%20threads%20is%20told%20of%20in".replace("Here%20", "");
      assert.deepEqual(await hrefs("Exact"), [
        "/page-0.html",
        `/page-0.html#part-1:~:text=${words}%20part`,
      ]);
      assert.deepEqual(await hrefs("Plain"), ["/page-0.html", "/page-0.html#part-1"]);
    },
    {
      html: `<siskin-search label='Exact'></siskin-search>
        <siskin-search label='Plain' text-fragments='off'></siskin-search>`,
    },
  ));

/** Follows the first result of each question to a place on the same page. */
async function search(tab: Tab, ...questions: string[]): Promise<void> {
  for (const question of questions) {
    await tab.ask(question);
    await tab.options.first().evaluate((node) => node.setAttribute("href", "#x"));
    await tab.options.first().click();
  }
}

test("recent searches are offered in the empty box, asked again, and forgotten", () =>
  withTab(
    async (tab) => {
      await search(tab, "threads", "locks");
      await tab.box.fill("");
      await tab.page.getByRole("group", { name: "Recent searches" }).waitFor();
      assert.deepEqual(await tab.options.allTextContents(), ["locks", "threads"]);
      await tab.box.press("ArrowDown");
      await tab.box.press("ArrowDown");
      await tab.box.press("Enter");
      await tab.page.getByRole("group", { name: "Page 0" }).waitFor();
      assert.equal(await tab.box.inputValue(), "threads");
      await tab.box.fill("");
      await tab.page.getByRole("button", { name: "Clear recent searches" }).click();
      assert.equal(await tab.options.count(), 0);
      assert.equal(await tab.page.evaluate(() => localStorage.length), 0);
    },
    { html: "<siskin-search recent></siskin-search><p id='x'>x</p>" },
  ));

test("nothing is stored where the page does not ask for recent searches", () =>
  withTab(
    async (tab) => {
      await search(tab, "threads");
      await tab.box.fill("");
      await tab.options.first().waitFor({ state: "detached" });
      assert.equal(await tab.page.evaluate(() => localStorage.length), 0);
    },
    { html: "<siskin-search></siskin-search><p id='x'>x</p>" },
  ));

async function askByScript(tab: Tab, question: string): Promise<void> {
  await tab.page.locator("siskin-search").evaluate((node, text) => {
    Object.assign(node, { value: text });
  }, question);
  await tab.page.waitForFunction(
    (wanted) => (globalThis as { answered?: string }).answered === wanted,
    question,
  );
}

test("two hundred questions leave no nodes and no listeners behind", () =>
  withTab(async (tab) => {
    const client = await tab.page.context().newCDPSession(tab.page);
    const measure = async () => {
      await client.send("HeapProfiler.collectGarbage");
      const { nodes, jsEventListeners } = await client.send("Memory.getDOMCounters");
      return { nodes, jsEventListeners };
    };
    const ask = async (count: number) => {
      // By the property: what is typed is kept by the browser, so that it can be undone.
      for (let number = 0; number < count; number++)
        await askByScript(tab, `question ${number % 7}`);
      return measure();
    };
    const before_questions = await ask(14);
    let after_questions = await ask(203);
    const has_leaked = () =>
      after_questions.nodes > before_questions.nodes * 1.2 + 50 ||
      after_questions.jsEventListeners > before_questions.jsEventListeners + 5;
    // What is no longer held may be collected a little later; what is held never is.
    for (let times = 0; times < 20 && has_leaked(); times++) {
      await tab.page.waitForTimeout(250);
      after_questions = await measure();
    }
    assert.ok(!has_leaked(), JSON.stringify([before_questions, after_questions]));
  }));

test("arrows wrap, text keys stay with the text, and no button is in the listbox", () =>
  withTab(
    async (tab) => {
      await tab.ask("threads");
      const active = () => tab.box.getAttribute("aria-activedescendant");
      await tab.box.press("ArrowUp");
      const last = await tab.options.last().getAttribute("id");
      assert.equal(await active(), last);
      await tab.box.press("ArrowDown");
      assert.equal(await active(), null);
      await tab.box.press("Home");
      assert.equal(await tab.box.evaluate((node: HTMLInputElement) => node.selectionStart), 0);
      await tab.box.press("End");
      assert.equal(await tab.box.evaluate((node: HTMLInputElement) => node.selectionStart), 7);
      assert.equal(await tab.page.locator("[role=listbox] button").count(), 0);
      const ids = await tab.options.evaluateAll((nodes) => nodes.map((node) => node.id));
      assert.equal(new Set(ids).size, ids.length);
    },
    { html: "<siskin-search limit='3'></siskin-search>" },
  ));

test("the status speaks once typing rests, and not for every letter", () =>
  withTab(async (tab) => {
    await tab.ask("t");
    await tab.page.evaluate(() => {
      const status = document
        .querySelector("siskin-search")
        ?.shadowRoot?.querySelector("[role=status]");
      const said: string[] = [];
      Object.assign(globalThis, { said });
      if (status) {
        new MutationObserver(() => said.push(status.textContent ?? "")).observe(status, {
          childList: true,
        });
      }
    });
    await tab.box.pressSequentially("hreads", { delay: 90 });
    await tab.status.getByText("for “threads”").waitFor({ state: "attached" });
    const said = await tab.page.evaluate(() => (globalThis as unknown as { said: string[] }).said);
    // Before a question's answer what was told is taken back.
    const told = said.filter((text) => text !== "");
    assert.ok(told.length <= 2, said.join(" / "));
  }));

test("an element that is moved while it asks goes on, and so does one that comes back later", () =>
  withTab(async (tab) => {
    await tab.ask("threads");
    await tab.page.evaluate(() => {
      const host = document.querySelector("siskin-search") as HTMLElement & { value: string };
      host.value = "locks";
      document.body.append(host);
    });
    await answerTo(tab, "locks");
    await tab.page.evaluate(async () => {
      const host = document.querySelector("siskin-search") as HTMLElement & { value: string };
      host.value = "channels";
      host.remove();
      await new Promise((resolve) => setTimeout(resolve, 50));
      document.body.append(host);
    });
    await answerTo(tab, "channels");
  }));

test("an element's site may be named while the box is being fetched", () =>
  withTab(async (tab) => {
    await tab.page.locator("siskin-search").evaluate((host: HTMLElement & { show(): void }) => {
      host.show();
      host.setAttribute("site", "/manual/");
    });
    await tab.ask("threads");
    assert.match((await tab.options.first().getAttribute("href")) ?? "", /^.*\/manual\/page-/);
  }));

test("an element whose site is named while the box is being fetched, unasked, has its engine", () =>
  withTab(async (tab) => {
    const release = tab.site.hold("/siskin/siskin-box.js");
    const beginning = tab.page.waitForEvent("worker");
    await tab.box.evaluate((input) => {
      input.dispatchEvent(new Event("pointerdown", { bubbles: true }));
    });
    const begun = await beginning;
    const closed = new Promise((resolve) => begun.once("close", resolve));
    const another = tab.page.waitForEvent("worker");
    await tab.page
      .locator("siskin-search")
      .evaluate((host) => host.setAttribute("site", "/manual/"));
    release();
    await Promise.all([closed, another]);
  }));

test("an element that comes back to an address with a question leaves it alone", () =>
  withTab(
    async (tab) => {
      const text = await tab.page.evaluate(() => {
        const host = document.querySelector("siskin-search") as HTMLElement & { value: string };
        host.remove();
        history.pushState({}, "", "?q=threads");
        document.body.append(host);
        return host.value;
      });
      assert.equal(text, "");
    },
    { html: "<siskin-search query-parameter='q'></siskin-search>" },
  ));

test("an element's site may be named later: links lead there", () =>
  withTab(async (tab) => {
    await tab.ask("threads");
    await tab.page
      .locator("siskin-search")
      .evaluate((host) => host.setAttribute("site", "/manual/"));
    const moved = tab.page.locator("siskin-search a[role=option][href*='/manual/page-0.html']");
    await moved.first().waitFor();
  }));

test("a list that costs many frames is drawn in parts, never shrinks and keeps its nodes", () =>
  withTab(
    async (tab) => {
      await learnsToBeSlow(tab);
      await tab.page.evaluate(async () => {
        // What that one cost is known some frames later.
        for (let frame = 0; frame < 5; frame++) {
          const drawn = (next: () => void) => requestAnimationFrame(() => setTimeout(next));
          await new Promise<void>(drawn);
        }
        const list = document.querySelector("siskin-search")?.shadowRoot?.querySelector("#list");
        const counts: number[] = [];
        const note = () => counts.push(list?.children.length ?? 0);
        new MutationObserver(note).observe(list as Element, { subtree: true, childList: true });
        const old = new Set(list?.children);
        const noteKept = () => {
          const kept = [...(list?.children ?? [])].filter((node) => old.has(node));
          Object.assign(globalThis, { counts, kept_count: kept.length });
        };
        addEventListener("siskin-results", noteKept, { capture: true });
      });
      await tab.ask("turned");
      assert.deepEqual((await titles(tab)).slice(0, 2), ["Page 3", "Page 4"]);
      assert.equal(await tab.groups.count(), 20);
      const counts = await tab.page.evaluate("counts");
      assert.ok(Array.isArray(counts) && counts.length > 2, `in ${counts} parts`);
      assert.ok(
        counts.every((count) => count === 20),
        `${counts}`,
      );
      assert.equal(await tab.page.evaluate("kept_count"), 20);
    },
    {
      html: "<siskin-search limit=20></siskin-search>",
      answers: {
        turned: Array.from({ length: 20 }, (_, at) => {
          const page = (at + 3) % 20;
          return { url: `/page-${page}.html`, title: `Page ${page}` };
        }),
      },
    },
  ));

test("a list that the reader has closed stays closed when the network refines it", () =>
  withTab(
    async (tab) => {
      const release = tab.site.hold("/siskin/network");
      await tab.ask("threads");
      await tab.box.press("Escape");
      assert.equal(await tab.box.getAttribute("aria-expanded"), "false");
      release();
      await answeredMode(tab, "full");
      assert.equal(await tab.box.getAttribute("aria-expanded"), "false");
      await tab.box.press("ArrowDown");
      assert.equal(await tab.box.getAttribute("aria-expanded"), "true");
    },
    { html: "<siskin-search encoder=idle></siskin-search>" },
  ));

test("reasons asked for while a list is drawn do not keep its answer secret", () =>
  withTab(
    async (tab) => {
      await learnsToBeSlow(tab);
      await tab.page.evaluate(() => {
        const root = document.querySelector("siskin-search")?.shadowRoot;
        const list = root?.querySelector("#list") as Element;
        const observer = new MutationObserver(() => {
          observer.disconnect();
          root?.querySelector<HTMLElement>(".why")?.click();
        });
        observer.observe(list, { subtree: true, childList: true });
      });
      await tab.ask("channels");
    },
    { html: "<siskin-search limit=20></siskin-search>" },
  ));

/** Slows the processor down, and lets the box see what a list costs it. */
async function learnsToBeSlow(tab: Tab): Promise<void> {
  await tab.ask("threads");
  const cdp = await tab.page.context().newCDPSession(tab.page);
  await cdp.send("Emulation.setCPUThrottlingRate", { rate: 20 });
  await tab.ask("locks");
}

/** Waits until sections that tell of `text` are in the list, which may be closed. */
function answerTo(tab: Tab, text: string): Promise<void> {
  const sections = tab.page.locator("siskin-search a", { hasText: `Here ${text} is told of` });
  return sections.first().waitFor({ state: "attached" });
}

test("a question that was set before the element was defined is asked", () =>
  withTab(
    async (tab) => {
      await tab.page.waitForFunction(() => "answered" in globalThis);
      assert.equal(await tab.box.inputValue(), "threads");
      const property = tab.page
        .locator("siskin-search")
        .evaluate((node) => Object.hasOwn(node, "value"));
      assert.equal(await property, false);
    },
    {
      html: `<siskin-search></siskin-search><script>document.querySelector("siskin-search").value = "threads"</script>`,
    },
  ));

test("Escape in an empty box is the page's: a dialog around it closes", () =>
  withTab(
    async (tab) => {
      await tab.page.evaluate(() => document.querySelector("dialog")?.showModal());
      await tab.ask("threads");
      const isOpen = () => tab.page.evaluate(() => document.querySelector("dialog")?.open);
      for (const still_open of [true, true, false]) {
        await tab.box.press("Escape");
        assert.equal(await isOpen(), still_open);
      }
    },
    { html: "<dialog><siskin-search></siskin-search></dialog>" },
  ));

test("Escape on a button of the panel closes the list and leads back to the input", () =>
  withTab(async (tab) => {
    await tab.ask("threads");
    await tab.page.locator("siskin-search").getByRole("button").first().focus();
    await tab.page.keyboard.press("Escape");
    assert.equal(await tab.options.first().isVisible(), false);
    const focused = tab.page
      .locator("siskin-search")
      .evaluate((node) => node.shadowRoot?.activeElement?.tagName);
    assert.equal(await focused, "INPUT");
    await tab.page.waitForTimeout(100);
    assert.equal(await tab.options.first().isVisible(), false);
  }));

test("more than a question may hold cannot be typed", () =>
  withTab(async (tab) => {
    await tab.ask("threads");
    await tab.page.keyboard.insertText("wort ".repeat(500));
    assert.equal((await tab.box.inputValue()).length, 2000);
  }));

test("Enter, pressed while a question is typed, opens nothing that another one found", () =>
  withTab(async (tab) => {
    await tab.ask("threads");
    await tab.box.press("ArrowDown");
    await tab.box.press("s");
    assert.equal(await tab.box.getAttribute("aria-activedescendant"), null);
    await tab.box.press("Enter");
    await answerTo(tab, "threadss");
    assert.ok(tab.page.url().endsWith("/test.html"));
  }));

test("a list that opened without the focus closes by Escape and by a click elsewhere", () =>
  withTab(
    async (tab) => {
      await answerTo(tab, "threads");
      const first = tab.options.first();
      await first.waitFor();
      await tab.page.keyboard.press("Escape");
      await first.waitFor({ state: "hidden" });
      await tab.page
        .locator("siskin-search")
        .evaluate((host) => Object.assign(host, { value: "locks" }));
      await first.waitFor();
      await tab.page.getByText("elsewhere").click();
      await first.waitFor({ state: "hidden" });
    },
    {
      html: `<p style="margin-top: 70vh">elsewhere</p><siskin-search query-parameter="q"></siskin-search>`,
      path: "/test.html?q=threads",
    },
  ));

test("“Show more” does not end the wait for the network, nor leave its progress standing", () =>
  withTab(
    async (tab) => {
      const release = tab.site.hold("/siskin/network");
      await tab.ask("threads");
      await tab.note.getByText("50").waitFor();
      await tab.page.getByRole("button", { name: "Show more" }).click();
      await tab.page.getByRole("group").nth(19).waitFor();
      release();
      await answeredMode(tab, "full");
      assert.ok((await tab.page.getByRole("group").count()) >= 20);
      assert.equal(await tab.note.isVisible(), false);
    },
    { html: "<siskin-search mode='full'></siskin-search>" },
  ));

test("what was told once is told again of a further try", () =>
  withTab(async (tab) => {
    await tab.ask("threads");
    await tab.status.getByText("for “threads”").waitFor({ state: "attached" });
    const told = await tab.status.textContent();
    await tab.page.getByRole("button", { name: "Show more" }).click();
    assert.equal(await tab.status.textContent(), "");
    await tab.status.getByText("for “threads”").waitFor({ state: "attached" });
    assert.equal(await tab.status.textContent(), told);
  }));

const MODAL = "<siskin-search modal></siskin-search><div id='other'></div>";

test("a modal closes by a click beside it, and not by a selection that ends there or in its own edge", () =>
  withTab(
    async (tab) => {
      await tab.page.getByRole("button", { name: "Search" }).click();
      await tab.ask("threads");
      const dialog = tab.page.locator("siskin-search dialog");
      const around = await dialog.boundingBox();
      assert.ok(around);
      const middle = around.y + around.height / 2;
      const isOpen = () => dialog.evaluate((node: HTMLDialogElement) => node.open);
      await tab.box.hover();
      await tab.page.mouse.down();
      await tab.page.mouse.move(around.x - 40, middle);
      await tab.page.mouse.up();
      assert.equal(await isOpen(), true);
      await tab.page.mouse.click(around.x + 3, middle);
      assert.equal(await isOpen(), true);
      await tab.page.mouse.click(around.x - 40, middle);
      assert.equal(await isOpen(), false);
    },
    { html: MODAL },
  ));

test("a modal that is moved while it is open can be opened again as one", () =>
  withTab(
    async (tab) => {
      const button = tab.page.getByRole("button", { name: "Search" });
      await button.click();
      await tab.ask("threads");
      await tab.page.evaluate(() => {
        const host = document.querySelector("siskin-search");
        if (host) document.querySelector("#other")?.append(host);
      });
      await button.click();
      const dialog = tab.page.locator("siskin-search dialog");
      assert.equal(await dialog.evaluate((node) => node.matches(":modal")), true);
    },
    { html: MODAL },
  ));

test("a value that was chosen and is no longer there can be taken back", () =>
  withTab(
    async (tab) => {
      await tab.ask("threads");
      await tab.page.getByRole("button", { name: "guide" }).click();
      stubEngine(tab.site, { facets: [{ filter: "kind", value: "blog", found: 3, pages: 3 }] });
      await tab.page
        .locator("siskin-search")
        .evaluate((host) => host.setAttribute("bundle", "/siskin/?"));
      await tab.page.getByRole("button", { name: "blog" }).waitFor();
      const chosen = tab.page.getByRole("button", { pressed: true });
      assert.equal(await chosen.innerText(), "guide 0");
      await chosen.click();
      await tab.page.getByRole("button", { name: "blog 3" }).waitFor();
      assert.equal(await tab.page.getByRole("button", { name: "guide" }).count(), 0);
    },
    {
      html: "<siskin-search filters='kind'></siskin-search>",
      facets: [{ filter: "kind", value: "guide", found: 3, pages: 3 }],
    },
  ));
