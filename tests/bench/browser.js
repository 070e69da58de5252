/** Drives Chromium: what a search costs its reader in bytes, time and memory. */
import { chromium } from "playwright-core";
import { median, quantile } from "./numbers.js";

const ARGUMENTS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--ignore-certificate-errors",
  "--enable-precise-memory-info",
  "--enable-blink-features=ForceEagerMeasureMemory",
];

/** Longest wait for one answer. */
const PATIENCE_MS = 240_000;

/** A large index is loaded fewer times: after this long, no further cold load is begun. */
const COLD_BUDGET_MS = 60_000;
const TIMED_BUDGET_MS = 120_000;
const TIMED_LOADS = 6;
const WARM_ROUNDS = 5;

const NETWORKS = {
  "4g": { mbit_s: 9, rtt_ms: 170 },
  "slow 4g": { mbit_s: 1.6, rtt_ms: 150 },
};

/** Remembers the memories of WebAssembly in the page or worker that runs it. */
const PRELUDE = `(() => {
  const known = globalThis.benchMemories ??= new Set();
  if (known.hooked) return;
  known.hooked = true;
  const note = (made) => {
    for (const value of Object.values((made.instance ?? made).exports ?? {}))
      if (value instanceof WebAssembly.Memory) known.add(value);
    return made;
  };
  for (const name of ["instantiate", "instantiateStreaming"]) {
    const real = WebAssembly[name];
    WebAssembly[name] = async (...all) => note(await real(...all));
  }
  WebAssembly.Instance = new Proxy(WebAssembly.Instance, {
    construct: (real, all) => note(new real(...all)),
  });
})();
`;

export function launch() {
  return chromium.launch({
    executablePath: process.env.SISKIN_CHROME ?? "/usr/bin/chromium",
    args: ARGUMENTS,
    timeout: PATIENCE_MS,
  });
}

/** A page of a fresh profile. Errors in it make the measurement fail. */
class Tab {
  errors = [];

  static async open(browser, server, network) {
    const tab = new Tab();
    tab.server = server;
    tab.context = await browser.newContext();
    tab.context.setDefaultTimeout(PATIENCE_MS);
    tab.page = await tab.context.newPage();
    tab.page.on("pageerror", (error) => tab.errors.push(String(error)));
    tab.cdp = await tab.context.newCDPSession(tab.page);
    if (network) await tab.#throttle(network);
    return tab;
  }

  async #throttle({ mbit_s, rtt_ms }) {
    const bytes_s = (mbit_s * 1e6) / 8;
    await this.cdp.send("Network.enable");
    await this.cdp.send("Network.emulateNetworkConditions", {
      offline: false,
      latency: rtt_ms,
      downloadThroughput: bytes_s,
      uploadThroughput: bytes_s,
    });
  }

  /** Opens the page with a question and waits for the answer to it. */
  async cold(question) {
    this.server.take();
    await this.page.goto(`${this.server.origin}/?q=${encodeURIComponent(question)}`);
    const answer = await this.evaluate(() => globalThis.bench.cold);
    return { ...answer, ...this.server.take() };
  }

  async ask(question) {
    this.server.take();
    const answer = await this.evaluate((text) => globalThis.bench.ask(text), question);
    return { ...answer, ...this.server.take() };
  }

  async evaluate(task, argument) {
    await this.page.waitForFunction(() => globalThis.bench !== undefined);
    const late = new Promise((_, reject) => {
      const fail = () => reject(new Error(`no answer within ${PATIENCE_MS / 1000} s`));
      setTimeout(fail, PATIENCE_MS).unref();
    });
    const result = await Promise.race([this.page.evaluate(task, argument), late]);
    if (this.errors.length > 0) throw new Error(this.errors.join("; "));
    return result;
  }

  close() {
    return this.context.close();
  }
}

async function withTab(browser, server, network, task) {
  const tab = await Tab.open(browser, server, network);
  try {
    return await task(tab);
  } finally {
    await tab.close();
  }
}

/** `measure` of each question until `budget_ms` is used up; at least one. */
async function within(budget_ms, questions, measure) {
  const end = Date.now() + budget_ms;
  const rows = [];
  for (const question of questions) {
    if (rows.length > 0 && Date.now() > end) break;
    rows.push(await measure(question));
  }
  return rows;
}

/** Bytes and requests from an empty cache to five results, question by question. */
export async function coldLoads(browser, server, questions) {
  const load = (question) => withTab(browser, server, undefined, (tab) => tab.cold(question));
  const rows = await within(COLD_BUDGET_MS, questions, load);
  return { loads: rows.length, ...summary(rows), without_results: empty(rows) };
}

/** Bytes and requests of further questions on a page that has answered one. */
export function laterQueries(browser, server, first, questions) {
  return withTab(browser, server, undefined, async (tab) => {
    await tab.cold(first);
    const rows = [];
    for (const question of questions) rows.push(await tab.ask(question));
    return { queries: rows.length, ...summary(rows), without_results: empty(rows) };
  });
}

function summary(rows) {
  const sizes = rows.map(({ body_bytes }) => body_bytes);
  return {
    body_bytes: { median: median(sizes), p95: quantile(sizes, 0.95), max: Math.max(...sizes) },
    requests: { median: median(rows.map(({ requests }) => requests)) },
    header_bytes: { median: median(rows.map(({ header_bytes }) => header_bytes)) },
  };
}

function empty(rows) {
  return rows.filter(({ count }) => count === 0).length;
}

/** Milliseconds from the start of navigation to the first result, on one of the networks. */
export async function firstResult(browser, server, questions, network) {
  const speed = NETWORKS[network];
  const load = (question) => withTab(browser, server, speed, (tab) => tab.cold(question));
  const rows = await within(TIMED_BUDGET_MS, questions.slice(0, TIMED_LOADS), load);
  return { loads: rows.length, first_ms: median(rows.map(({ first_ms }) => first_ms)) };
}

/** Milliseconds of a question whose files are all at hand, with its results in the page. */
export function warmLatency(browser, server, questions) {
  return withTab(browser, server, undefined, async (tab) => {
    await tab.cold(questions[0]);
    for (const question of questions) await tab.ask(question);
    const times = [];
    for (let round = 0; round < WARM_ROUNDS; round += 1) {
      for (const question of questions) times.push((await tab.ask(question)).took_ms);
    }
    return { queries: times.length, p50_ms: quantile(times, 0.5), p95_ms: quantile(times, 0.95) };
  });
}

/** Bytes of memory after all questions: JavaScript of page and workers, and WebAssembly. */
export async function memory(browser, server, questions) {
  server.prelude = PRELUDE;
  try {
    return await withTab(browser, server, undefined, async (tab) => {
      await tab.cold(questions[0]);
      for (const question of questions) await tab.ask(question);
      await tab.cdp.send("HeapProfiler.collectGarbage");
      const js_bytes = await tab.evaluate(async () => {
        const { breakdown } = await performance.measureUserAgentSpecificMemory();
        const scripts = breakdown.filter(({ types }) => types.includes("JavaScript"));
        return scripts.reduce((sum, { bytes }) => sum + bytes, 0);
      });
      return { js_bytes, wasm_bytes: await wasmBytes(tab.page) };
    });
  } finally {
    server.prelude = "";
  }
}

async function wasmBytes(page) {
  const count = () =>
    [...(globalThis.benchMemories ?? [])].reduce((sum, each) => sum + each.buffer.byteLength, 0);
  const sums = [page, ...page.workers()].map((place) => place.evaluate(count));
  return (await Promise.all(sums)).reduce((a, b) => a + b, 0);
}

/** The addresses that answer each question, best first. */
export function rankings(browser, server, questions, limit) {
  return withTab(browser, server, undefined, async (tab) => {
    await tab.page.goto(`${server.origin}/`);
    const lists = [];
    for (const text of questions) {
      const ask = (wanted) => globalThis.bench.addresses(wanted.text, wanted.limit);
      lists.push(await tab.evaluate(ask, { text, limit }));
    }
    return lists;
  });
}
