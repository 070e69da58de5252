/** A long session: what it holds in memory, and whether typing stays smooth on a slow machine. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import { launch, sampleSite, Tab } from "./harness.js";

const WORDS = "share data between threads safely without copying ownership borrow closures".split(
  " ",
);

let browser: Browser;
before(async () => {
  browser = await launch("--js-flags=--expose-gc", "--enable-precise-memory-info");
});
after(() => browser.close());

/** Keeps the memory of the worker's WebAssembly modules in sight. */
const WATCH_MEMORY = `globalThis.memories = [];
  for (const name of ["instantiate", "instantiateStreaming"]) {
    const original = WebAssembly[name];
    WebAssembly[name] = async (...parts) => {
      const made = await original(...parts);
      memories.push((made.instance ?? made).exports.memory);
      return made;
    };
  }
`;

async function openTab(policy?: string): Promise<Tab> {
  const tab = await Tab.open(browser);
  const worker = readFileSync(join(sampleSite(), "siskin/siskin-worker.js"), "utf8");
  tab.site.file("/siskin/siskin-worker.js", WATCH_MEMORY + worker);
  tab.site.page("/test.html", "<siskin-search></siskin-search>", policy);
  await tab.watchAnswers();
  await tab.goto("/test.html");
  return tab;
}

/** One of fifty questions. */
function question(number: number): string {
  const [first, step] = [number % WORDS.length, 1 + (Math.floor(number / WORDS.length) % 5)];
  return `${WORDS[first]} ${WORDS[(first + step) % WORDS.length]}`;
}

/** Asks by the property: what is typed is kept by the browser, so that it can be undone. */
async function askQuestions(tab: Tab, count: number): Promise<void> {
  for (let number = 0; number < count; number++) {
    await tab.page.evaluate((text) => {
      const box = document.querySelector("siskin-search");
      return new Promise((resolve) => {
        box?.addEventListener("siskin-results", resolve, { once: true });
        Object.assign(box ?? {}, { value: text });
      });
    }, question(number));
  }
}

type Held = { heap: number; wasm: number };

/** Bytes that are held after a collection: by the page's scripts, and by WebAssembly in the worker. */
async function held(tab: Tab): Promise<Held> {
  const heap = await tab.page.evaluate(() => {
    const { gc, performance } = globalThis as unknown as {
      gc(): void;
      performance: { memory: { usedJSHeapSize: number } };
    };
    for (let times = 0; times < 3; times++) gc();
    return performance.memory.usedJSHeapSize;
  });
  const sizes = tab.page.workers().map((worker) =>
    worker.evaluate(() => {
      const { memories } = globalThis as unknown as { memories: WebAssembly.Memory[] };
      return memories.reduce((sum, { buffer }) => sum + buffer.byteLength, 0);
    }),
  );
  const wasm = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  return { heap, wasm };
}

/** A leak grows with every round; what the browser compiles and learns of scripts, with one of them, when it has the time. */
const ROUNDS = 3;

/** Whether a round of questions added at most 5 % of what was held at first. */
function isFlat(first: Held, early: Held, late: Held): boolean {
  const added = (part: keyof Held) => (late[part] - early[part]) / Math.max(first[part], 1);
  return added("heap") <= 0.05 && added("wasm") <= 0.05;
}

/** Chromium tells a page nothing of a worker's heap; without a worker the engine's is the page's. */
const NO_WORKERS = "worker-src 'none'";

for (const { where, policy } of [
  { where: "in a worker" },
  { where: "on the page's own thread", policy: NO_WORKERS },
]) {
  test(`two hundred questions ${where} leave the memory as it was, within 5 %`, async () => {
    const tab = await openTab(policy);
    await askQuestions(tab, 100);
    const first = await held(tab);
    assert.equal(first.wasm > 0, policy === undefined);
    const seen = [first];
    let early = first;
    for (let round = 1; round <= ROUNDS; round++) {
      await askQuestions(tab, 200);
      const late = await held(tab);
      seen.push(late);
      if (isFlat(first, early, late)) break;
      assert.ok(round < ROUNDS, `after 100 questions and each 200 more: ${JSON.stringify(seen)}`);
      early = late;
    }
    await tab.close({ expected: [/worker-src|Content Security Policy/i] });
  });
}

/** A letter takes a frame when it is typed and one when its answer is shown. */
const BUDGET_MS = 2 * (1000 / 60);

/** What scripts, styles and layout cost counts: drawing is the graphics card's, of which tests have
 * none. It is the thread's own time, so that other work on the machine does not count. */
const COSTS = ["ScriptDuration", "RecalcStyleDuration", "LayoutDuration"];

test("on a machine four times slower a letter and its answer fit into their frames", async () => {
  const tab = await openTab();
  await tab.ask("threads");
  await tab.box.fill("");
  const client = await tab.page.context().newCDPSession(tab.page);
  await client.send("Performance.enable", { timeDomain: "threadTicks" });
  const text = "share data between threads safely";
  await tab.box.pressSequentially(text, { delay: 120 });
  await tab.page.waitForFunction(
    (wanted) => (globalThis as { answered?: string }).answered === wanted,
    text,
  );
  const { metrics } = await client.send("Performance.getMetrics");
  const costs = metrics.filter(({ name }) => COSTS.includes(name));
  const total_ms = 1000 * costs.reduce((sum, { value }) => sum + value, 0);
  assert.ok(total_ms > 0);
  const slowed_ms = (4 * total_ms) / text.length;
  assert.ok(slowed_ms < BUDGET_MS, `${slowed_ms.toFixed(1)} ms a letter`);
  await tab.close();
});

test("where a list takes several frames it waits until typing pauses", async () => {
  const tab = await openTab();
  await tab.page.evaluate(() => {
    const seen = globalThis as { lists?: number };
    const count = () => {
      seen.lists = (seen.lists ?? 0) + 1;
    };
    addEventListener("siskin-results", count, { capture: true });
  });
  const client = await tab.page.context().newCDPSession(tab.page);
  await client.send("Emulation.setCPUThrottlingRate", { rate: 6 });
  // What a list costs here is known then.
  await tab.ask("ownership");
  await tab.box.fill("");
  const lists = () => tab.page.evaluate(() => (globalThis as { lists?: number }).lists ?? 0);
  const before = await lists();
  const text = "share data between threads safely";
  await tab.box.pressSequentially(text, { delay: 130 });
  await tab.page.waitForFunction(
    (wanted) => (globalThis as { answered?: string }).answered === wanted,
    text,
  );
  const drawn = (await lists()) - before;
  assert.ok(drawn <= text.length / 4, `${drawn} lists for ${text.length} letters`);
  await tab.close();
});
