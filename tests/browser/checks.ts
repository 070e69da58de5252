import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { Key } from "selenium-webdriver";
import type { Engine, Running } from "./engines.js";
import { hostileAnswers, hostileFacets, MARKUP } from "./hostile.js";
import type { Site } from "./site.js";
import { stubEngine } from "./stub.js";
import { Visit } from "./visit.js";

const AXE = readFileSync(
  join(process.env.SISKIN_REPOSITORY ?? ".", "www/node_modules/axe-core/axe.min.js"),
  "utf8",
);

const BOX = "<siskin-search></siskin-search><p><a id='after' href='#x'>after</a></p>";
const MODAL = `<input aria-label="Other"><p><a id="link" href="#x">link</a></p>
  <siskin-search modal></siskin-search><p class="tall">x</p>`;
const QUESTION = "share data between threads safely";

/** Checks of `<siskin-search>` of the built package that every browser must pass, all under a strict
 * policy. A machine without the browser's programs skips them. */
export function checkIn(engine: Engine): void {
  const skip = engine.missing.length > 0 && `not installed: ${engine.missing.join(", ")}`;
  describe(engine.name, { skip }, () => checks(engine));
}

interface Setting {
  html?: string;
  path?: string;
  prepare?: (site: Site) => void;
  expected?: RegExp[];
}

/** The site's own service worker, as www/README.md gives it for Trusted Types. */
const SERVICE_WORKER = `const url = "/siskin/siskin-sw.js";
  const policy = self.trustedTypes?.createPolicy("siskin", { createScriptURL: () => url });
  importScripts(policy?.createScriptURL("") ?? url);`;

/** The place of the element that has the focus: in the box where it is there. */
const FOCUS = `const { activeElement } = document;
  return (activeElement.shadowRoot?.activeElement ?? activeElement).outerHTML.slice(0, 80)`;

function checks(engine: Engine): void {
  let running: Running;
  before(async () => {
    running = await engine.start();
  });
  after(() => running?.stop());

  /** A test of one page; its engine is a stub that finds pages for every question. */
  const check = (
    name: string,
    body: (page: Visit) => Promise<void>,
    { html = BOX, expected = [], ...setting }: Setting = {},
  ) =>
    test(name, async () => {
      const page = await Visit.open(running.driver, html, { prepare: stubEngine, ...setting });
      await body(page).catch(async (error: unknown) => {
        await page.close().catch(() => {});
        throw error;
      });
      await page.close({ expected });
    });
  /** The same with the real engine and the sample site. */
  const checkReally = (name: string, body: (page: Visit) => Promise<void>, setting?: Setting) =>
    check(name, body, { prepare: () => {}, ...setting });

  checkReally("typing answers as one types, with links, headings, excerpts and marks", typing);
  checkReally("words, tables and the network answer", modes);
  checkReally("what was asked is in no address, no storage and no log", privacy);
  checkReally("a page that was visited answers without a connection", offline, {
    html: "<siskin-search offline='/service-worker.js'></siskin-search>",
    prepare: (site) => site.file("/service-worker.js", SERVICE_WORKER),
  });
  check("the keyboard alone finds, follows, closes and leaves", keyboard);
  check("the keyboard alone asks why a result is there", explaining, {
    prepare: (site) => stubEngine(site, { answers: EXPLAINED }),
  });
  check("shortcuts open the modal, Escape gives the focus back", shortcuts, { html: MODAL });
  check("a finger follows a result", (page) => touch(page, engine));
  check("an input method is left alone until its word is done", composition);
  check("a screen reader finds a combobox with a list of named groups", screenReader);
  for (const theme of ["light", "dark"]) {
    check(`axe-core finds no fault, ${theme}`, (page) => accessible(page, theme));
    check(
      `axe-core finds no fault with the modal, ${theme}`,
      (page) => accessibleModal(page, theme),
      {
        html: MODAL,
      },
    );
  }
  check("Arabic is laid out from right to left", rightToLeft, {
    html: "<div lang='ar' dir='rtl'><siskin-search></siskin-search></div>",
  });
  check("at 200 % nothing is cut or needs scrolling sideways", (page) => zoom(page, running));
  check("nothing moves for readers who want it so", reducedMotion);
  check("hostile titles, excerpts, words and addresses stay text", hostile, {
    prepare: (site) => stubEngine(site, { answers: hostileAnswers() }),
  });
  check("hostile names and values of filters stay text, and can be chosen", hostileFilters, {
    prepare: (site) => stubEngine(site, { answers: hostileAnswers(), facets: hostileFacets() }),
  });
  checkReally("markup in the address's question stays text", hostileAddress, {
    html: "<siskin-search query-parameter='q'></siskin-search>",
    path: `/test.html?q=${encodeURIComponent(MARKUP)}`,
  });
}

async function typing(page: Visit): Promise<void> {
  const input = await page.input;
  await input.sendKeys("share data");
  await page.answered("share data");
  await input.sendKeys(QUESTION.slice("share data".length));
  await page.answered(QUESTION);
  const links = await page.run<string[]>(
    "return [...root.querySelectorAll('[role=option]')].map((node) => node.href)",
  );
  assert.ok(links.slice(0, 4).some((link) => link.includes("/ch16-03-shared-state.html")));
  assert.ok((await page.texts(".excerpt mark")).length > 0);
  assert.ok((await page.texts(".heading")).every((heading) => heading !== ""));
  await page.press(Key.BACK_SPACE);
  await page.answered(QUESTION.slice(0, -1));
}

async function modes(page: Visit): Promise<void> {
  for (const mode of ["words", "table", "full"]) {
    await page.run(`root.host.setAttribute("mode", arguments[0])`, mode);
    await page.ask(`crash the program on purpose, ${mode}`, mode);
    const links = await page.run<string[]>(
      "return [...root.querySelectorAll('[role=option]')].map((node) => node.pathname)",
    );
    assert.ok(links.length > 0, mode);
    if (mode !== "words") assert.match(links.join(" "), /ch09-0[13]/, mode);
  }
}

async function privacy(page: Visit): Promise<void> {
  await page.ask("anonymous functions");
  const kept = await page.run<{ databases: unknown[]; caches: string[] }>(`return (async () => ({
    url: location.href,
    local: JSON.stringify({ ...localStorage, ...sessionStorage }),
    cookies: document.cookie,
    entries: history.length,
    state: history.state,
    databases: await indexedDB.databases(),
    caches: await caches.keys(),
  }))()`);
  const told = [JSON.stringify(kept), ...page.site.requests, ...(await page.complaints())];
  assert.ok(!told.join(" ").includes("anonymous"), told.join(" "));
  assert.deepEqual([kept.databases, kept.caches], [[], []]);
}

async function offline(page: Visit): Promise<void> {
  await page.until("return globalThis.kept");
  await page.ask(QUESTION);
  await page.site.stop();
  const online = page.site.requests.length;
  await page.goto("/test.html");
  await page.ask(QUESTION);
  assert.ok((await page.texts(".title")).length > 0);
  assert.equal(page.site.requests.length, online);
}

async function keyboard(page: Visit): Promise<void> {
  const active = () => page.run("return root.querySelector('[aria-selected=true]')?.textContent");
  const isOpen = () => page.run("return root.querySelector('input').ariaExpanded === 'true'");
  await page.input;
  await page.press(Key.TAB);
  await page.press("threads");
  await page.answered("threads");
  await page.press(Key.ARROW_DOWN);
  assert.match(String(await active()), /^Page 0/);
  await page.press(Key.ARROW_UP);
  assert.equal(await active(), null);
  await page.press(Key.ESCAPE);
  assert.equal(await isOpen(), false);
  await page.press(Key.ARROW_DOWN);
  assert.equal(await isOpen(), true);
  await page.press(Key.TAB);
  assert.match(await page.run(FOCUS), /class="why"/);
  await page.press(Key.TAB);
  assert.match(await page.run(FOCUS), /class="more"/);
  await page.press(Key.TAB);
  assert.match(await page.run(FOCUS), /id="after"/);
  assert.equal(await isOpen(), false);
  await page.press("/");
  await page.press(Key.ARROW_DOWN + Key.ARROW_DOWN + Key.ENTER);
  await page.until("return location.pathname === '/page-0.html'");
  assert.match(await page.address(), /#part-1/);
  await page.goto("/test.html");
  await page.ask("threads");
  await page.press(Key.ESCAPE + Key.ESCAPE);
  assert.equal(await (await page.input).getAttribute("value"), "");
}

/** One page, with a word of the question, a word of like meaning and two that are not there. */
const EXPLAINED = {
  "how to stop threads": [
    {
      url: "/page-0.html",
      title: "Threads",
      heading: "Ending",
      excerpt: "Here threads are ended.",
      matches: [
        { kind: "word" as const, query: "threads", text: "threads" },
        { kind: "meaning" as const, query: "stop", text: "ended" },
      ],
    },
  ],
};

async function explaining(page: Visit): Promise<void> {
  const reasons = () => page.texts(".reasons");
  await page.ask("how to stop threads");
  assert.deepEqual(await reasons(), ["stop ≈ ended"]);
  await page.press(Key.TAB);
  assert.match(await page.run(FOCUS), /class="why".*aria-pressed="false"/);
  await page.press(Key.SPACE);
  assert.deepEqual(await reasons(), [
    "Found here: threads",
    "Alike in meaning: stop ≈ ended",
    "Not found here, or too common to look for: how, to",
  ]);
  const how = "Found by your words and, from tables, by their meaning.";
  assert.deepEqual(await page.texts("[part=mode]"), [how]);
  await page.until("return root.querySelector('[role=status]').textContent === arguments[0]", how);
  // The focus stays, and the list is still moved through from the input.
  assert.match(await page.run(FOCUS), /class="why".*aria-pressed="true"/);
  await page.press(Key.TAB, Key.SHIFT);
  await page.press(Key.ARROW_DOWN);
  const option = await page.one("[aria-selected=true]");
  assert.match(await option.getAccessibleName(), /Found here: threads.*stop ≈ ended/);
  assert.equal((await page.all("[role=listbox] button")).length, 0);
  await page.press(Key.TAB);
  await page.press(Key.ENTER);
  assert.deepEqual(await reasons(), ["stop ≈ ended"]);
  assert.deepEqual(await page.texts("[part=mode]"), [""]);
}

async function shortcuts(page: Visit): Promise<void> {
  const isOpen = () => page.run<boolean>("return root.querySelector('dialog').open");
  await page.one("dialog");
  for (const [key, modifier] of [["k", Key.CONTROL], ["/"]] as const) {
    await page.run("document.querySelector('#link').focus()");
    await page.press(key, modifier);
    assert.equal(await isOpen(), true, key);
    await page.press("threads");
    await page.until("return root.querySelector('input').value.endsWith('threads')");
    await page.press(Key.ESCAPE);
    // Until the box is loaded the browser closes the dialog itself, a moment later.
    await page.until("return !root.querySelector('dialog').open");
    assert.match(await page.run(FOCUS), /id="link"/);
  }
  await page.run("document.querySelector('input').focus()");
  await page.press("a/b");
  assert.equal(await page.run("return document.querySelector('input').value"), "a/b");
  assert.equal(await isOpen(), false);
}

/** WebKitGTK has no fingers for its driver: there a mouse does. */
async function touch(page: Visit, { name }: Engine): Promise<void> {
  const pointer = name === "WebKitGTK" ? "mouse" : "touch";
  await page.tap(await page.input, pointer);
  assert.match(await page.run(FOCUS), /<input/);
  await page.ask("threads");
  await page.tap(await page.one(".section"), pointer);
  await page.until("return location.pathname === '/page-0.html' && 'complaints' in globalThis");
}

/** Drivers have no input methods: what a browser tells the page of one is told by a script. */
const COMPOSE = `const input = root.querySelector("input");
  const tell = (event) => input.dispatchEvent(event);
  input.focus();
  tell(new CompositionEvent("compositionstart", { bubbles: true }));
  for (const text of ["す", "すれ", "すれっど"]) {
    input.value = text;
    tell(new CompositionEvent("compositionupdate", { data: text, bubbles: true }));
    tell(new InputEvent("input", { data: text, isComposing: true, bubbles: true, composed: true }));
  }
  const keys = ["Enter", "Escape", "ArrowDown"].map((key) =>
    tell(new KeyboardEvent("keydown", { key, isComposing: true, cancelable: true, bubbles: true })));`;

async function composition(page: Visit): Promise<void> {
  await page.ask("threads");
  const left_alone = await page.run(`${COMPOSE} return keys;`);
  assert.deepEqual(left_alone, [true, true, true]);
  await page.pause(300);
  assert.equal(await page.run("return answered"), "threads");
  await page.run(`const input = root.querySelector("input");
    input.value = "スレッド";
    input.dispatchEvent(new CompositionEvent("compositionend", { data: input.value, bubbles: true }));`);
  await page.answered("スレッド");
}

async function screenReader(page: Visit): Promise<void> {
  const told = async (selector: string) => {
    const node = await page.one(selector);
    return [await node.getAriaRole(), await node.getAccessibleName()];
  };
  assert.deepEqual(await told("input"), ["combobox", "Search"]);
  await page.ask("threads");
  assert.deepEqual(await told("#list"), ["listbox", "Search"]);
  assert.deepEqual(await told("[part=group]"), ["group", "Page 0"]);
  assert.deepEqual(await told(".page"), ["option", "Page 0"]);
  const [role, name] = await told(".section");
  assert.equal(role, "option");
  assert.match(name ?? "", /^Part 1 Here threads is told of in part 1/);
  await page.until(
    "return /^30 results for “threads”/.test(root.querySelector('[role=status]').textContent)",
  );
  assert.equal((await told("[role=status]"))[0], "status");
  await page.press(Key.ARROW_DOWN);
  const { active, first } = await page.run<{ active: string; first: string }>(
    `return { active: root.querySelector("input").getAttribute("aria-activedescendant"),
      first: root.querySelector("[role=option]").id }`,
  );
  assert.equal(active, first);
}

/** Rules of axe-core that are broken, each with the nodes that break it. */
async function violations(page: Visit): Promise<string[]> {
  await page.run(`if (!globalThis.axe) { ${AXE} }`);
  return page.run(`return axe.run().then(({ violations }) => violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => [id, html, failureSummary].join(": "))))`);
}

async function accessible(page: Visit, theme: string): Promise<void> {
  await page.run("document.documentElement.dataset.theme = arguments[0]", theme);
  assert.deepEqual(await violations(page), [], "at rest");
  await page.ask("threads");
  await page.press(Key.ARROW_DOWN);
  assert.deepEqual(await violations(page), [], "with an active result");
  await (await page.one("button.why")).click();
  assert.deepEqual(await violations(page), [], "with reasons");
}

async function accessibleModal(page: Visit, theme: string): Promise<void> {
  await page.run("document.documentElement.dataset.theme = arguments[0]", theme);
  await (await page.one("[part=button]")).click();
  await page.ask("threads");
  assert.deepEqual(await violations(page), []);
}

async function rightToLeft(page: Visit): Promise<void> {
  await page.ask("threads");
  const section = await page.run<Record<string, string>>(`
    const { direction, borderRightWidth, borderLeftWidth } =
      getComputedStyle(root.querySelector(".section"));
    return { direction, borderRightWidth, borderLeftWidth }`);
  assert.deepEqual(section, { direction: "rtl", borderRightWidth: "2px", borderLeftWidth: "0px" });
  assert.equal(await (await page.input).getAccessibleName(), "بحث");
}

/** Zooming a window of 1280 × 1024 to 200 % leaves the page half of its pixels. */
async function zoom(page: Visit, { driver }: Running): Promise<void> {
  const whole = await driver.manage().window().getRect();
  await driver.manage().window().setRect({ width: 640, height: 512 });
  try {
    await fits(page);
  } finally {
    await driver.manage().window().setRect(whole);
  }
}

async function fits(page: Visit): Promise<void> {
  await page.ask("threads");
  const cut = await page.run<string[]>(`
    const { clientWidth, scrollWidth } = document.documentElement;
    const wide = [...root.querySelectorAll("*")].filter((node) => {
      const { left, right, width } = node.getBoundingClientRect();
      const is_seen = width > 1 && node.getAttribute("role") !== "status";
      return is_seen && (left < 0 || right > clientWidth || node.scrollWidth > node.clientWidth + 1)
        && getComputedStyle(node).display !== "inline";
    });
    return [...(scrollWidth > clientWidth ? ["the page"] : []),
      ...wide.map((node) => node.outerHTML.slice(0, 100))];`);
  assert.deepEqual(cut, []);
}

async function reducedMotion(page: Visit): Promise<void> {
  assert.ok(await page.run("return matchMedia('(prefers-reduced-motion: reduce)').matches"));
  await page.ask("threads");
  const animation = await page.run(`const note = root.querySelector(".note");
    note.classList.add("busy");
    return getComputedStyle(note, "::after").animationName`);
  assert.equal(animation, "none");
}

async function hostile(page: Visit): Promise<void> {
  await page.ask("evil");
  assert.equal(await page.run("return 'hit' in globalThis"), false);
  assert.deepEqual(await page.all("img, script, b, svg"), []);
  const options = await page.run<{ has_link: boolean; length: number }[]>(
    `return [...root.querySelectorAll("[role=option]")].map((node) =>
      ({ has_link: node.hasAttribute("href"), length: node.textContent.length }))`,
  );
  assert.deepEqual(
    options.map(({ has_link }) => has_link),
    [false, false, true],
  );
  assert.ok(
    options.every(({ length }) => length < 3000),
    JSON.stringify(options),
  );
  await (await page.one("[role=option]")).click();
  assert.equal(new URL(await page.address()).pathname, "/test.html");
  const isolation = await page.run<string[]>(
    `return [...root.querySelectorAll(".title")].map((node) => getComputedStyle(node).unicodeBidi)`,
  );
  assert.deepEqual([...new Set(isolation)], ["isolate"]);
  await page.goto("/test.html");
  await page.ask("evil");
  await (await page.one("button.why")).click();
  const reasons = await page.texts(".reasons");
  assert.ok(reasons.some((text) => text.includes(MARKUP)));
  assert.ok(reasons.every((text) => text.length < 3000));
  assert.equal(await page.run("return 'hit' in globalThis"), false);
  assert.deepEqual(await page.all("img, script, b, svg"), []);
}

async function hostileFilters(page: Visit): Promise<void> {
  const names = hostileFacets().map(({ filter }) => filter);
  await page.input;
  await page.run(`root.host.addEventListener("siskin-results", ({ detail }) => {
    root.host.dataset.filter = detail.results[0].meta.filter;
  })`);
  await page.run(`root.host.setAttribute("filters", arguments[0])`, names.join());
  await page.ask("evil");
  const shown = await page.texts("[part=facet]");
  assert.equal(shown.length, names.length);
  assert.ok(shown[0]?.includes(MARKUP));
  assert.ok(
    shown.every((text) => text.length < 3000),
    String(shown.map((text) => text.length)),
  );
  const labels = await page.run<string[]>(
    `return [...root.querySelectorAll("[part=facet]")].map((node) => node.ariaLabel)`,
  );
  assert.equal(labels[0], MARKUP);
  const pressed = `return [...root.querySelectorAll("[part=value]")].map((node) => node.ariaPressed)`;
  for (const [at, pair] of hostileFacets().entries()) {
    await page.run(`root.querySelectorAll("[part=value]")[arguments[0]].click()`, at);
    // What is asked for is the value itself, with all of its signs.
    const wanted = JSON.stringify({ filter: pair.filter, value: pair.value });
    await page.until("return root.host.dataset.filter?.includes(arguments[0])", wanted);
    assert.equal((await page.run<string[]>(pressed))[at], "true", pair.filter.slice(0, 50));
  }
  assert.equal(await page.run("return 'hit' in globalThis"), false);
  assert.deepEqual(await page.all("img, script, b, svg"), []);
}

async function hostileAddress(page: Visit): Promise<void> {
  await page.until("return 'answered' in globalThis");
  assert.equal(await (await page.input).getAttribute("value"), MARKUP);
  await page.ask(`${MARKUP} zzzzqqqq`);
  await page.until("return root.querySelector('[role=status]').textContent.includes('<img src=x')");
  assert.equal(await page.run("return 'hit' in globalThis"), false);
  assert.deepEqual(await page.all("img, script, b, svg"), []);
}
