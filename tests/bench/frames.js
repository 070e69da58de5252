/** Whether typing stays smooth on a slow machine: frames of the page while letters are typed into each
 * search's own box, its processor slowed down by Chromium.
 *
 *     node frames.js --siskin INDEX [--pagefind INDEX] [--rate 4] [--rounds 3]
 *
 * INDEX is the folder that `siskin index` or `pagefind` wrote. Beside them stands an input without any search:
 * what it loses is the machine's and the browser's. Prints a table as Markdown. Frames are drawn by the
 * processor here, which real machines leave to their graphics card. */
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { launch } from "./browser.js";
import { median, quantile } from "./numbers.js";
import { Server } from "./server.js";

const { values: options } = parseArgs({
  options: {
    siskin: { type: "string" },
    pagefind: { type: "string" },
    rate: { type: "string", default: "4" },
    rounds: { type: "string", default: "3" },
  },
});

const TYPED = "how do I stop a request halfway";
/** A quick typist: 100 words a minute. */
const LETTER_MS = 120;
/** A display of 60 frames a second. */
const FRAME_MS = 1000 / 60;
/** Longest wait for anything. */
const PATIENCE_MS = 120_000;

/** Pages by name: their folder, what they hold and the input that is typed into. */
const PAGES = {
  "an input alone": { body: `<input type="search">`, input: "input" },
  Siskin: {
    folder: "siskin",
    body: `<script type="module" src="/siskin/siskin.js"></script><siskin-search></siskin-search>`,
    input: "siskin-search input",
    answer: "siskin-search [role=option]",
  },
  Pagefind: {
    folder: "pagefind",
    body: `<link rel="stylesheet" href="/pagefind/pagefind-ui.css"><div id="search"></div>
      <script src="/pagefind/pagefind-ui.js"></script>
      <script>new PagefindUI({ element: "#search", showSubResults: true })</script>`,
    input: "#search input",
    answer: ".pagefind-ui__message:not(:empty)",
  },
};

/** Notes when frames begin, tasks that held the thread, and how long letters took to be drawn. */
function watch() {
  const seen = { frames: [], tasks: [], letters: [] };
  const note = (time) => {
    seen.frames.push(time);
    requestAnimationFrame(note);
  };
  requestAnimationFrame(note);
  const observe = (type, take) =>
    new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({
      type,
      durationThreshold: 16,
    });
  observe("longtask", ({ duration }) => seen.tasks.push(duration));
  observe("event", ({ name, duration }) => {
    if (name === "keydown") seen.letters.push(duration);
  });
  globalThis.seen = seen;
}

/** Types into a page's box once it is warm. */
async function typed(browser, origin, { input, answer }) {
  const context = await browser.newContext();
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  await page.goto(origin);
  const box = page.locator(input).first();
  // Warm: the search is loaded, its code compiled.
  await box.pressSequentially(TYPED, { delay: LETTER_MS });
  if (answer) await page.locator(answer).first().waitFor();
  await box.fill("");
  await page.waitForTimeout(500);
  const cdp = await context.newCDPSession(page);
  await cdp.send("Emulation.setCPUThrottlingRate", { rate: Number(options.rate) });
  await page.evaluate(watch);
  await box.pressSequentially(TYPED, { delay: LETTER_MS });
  await page.waitForTimeout(500);
  const seen = await page.evaluate(() => globalThis.seen);
  await context.close();
  return seen;
}

function summed(rounds) {
  const gaps = rounds.flatMap(({ frames }) => frames.slice(1).map((time, at) => time - frames[at]));
  const slots = gaps.map((gap) => Math.max(1, Math.round(gap / FRAME_MS)));
  const all = slots.reduce((a, b) => a + b, 0);
  const tasks = rounds.map(({ tasks }) => Math.max(0, ...tasks));
  const letters = rounds.flatMap(({ letters }) => letters);
  return {
    lost: (all - slots.length) / all,
    p95_ms: quantile(gaps, 0.95),
    longest_ms: Math.max(...gaps),
    task_ms: median(tasks),
    letters: letters.length,
    letter_ms: quantile(letters, 0.95),
  };
}

const folder = mkdtempSync(join(tmpdir(), "siskin-frames-"));
const browser = await launch();
try {
  const chosen = Object.entries(PAGES).filter(([, { folder }]) => !folder || options[folder]);
  const rounds = new Map(chosen.map(([name]) => [name, []]));
  for (const [, page] of chosen) {
    if (page.folder) symlinkSync(resolve(options[page.folder]), join(folder, page.folder));
  }
  const server = await new Server(folder, join(folder, "compressed")).start();
  // By turns: what else the machine does then meets all of them.
  for (let round = 0; round < Number(options.rounds); round++) {
    for (const [name, page] of chosen) {
      const head = `<!doctype html><html lang="en"><meta charset="utf-8"><title>${name}</title>`;
      writeFileSync(join(folder, "index.html"), head + page.body);
      rounds.get(name).push(await typed(browser, `${server.origin}/?${name}${round}`, page));
    }
  }
  await server.stop();
  const count = TYPED.length * Number(options.rounds);
  process.stdout.write(
    `Processor slowed ${options.rate} times, ${count} letters each.\n\n` +
      "| | frames lost | p95 between frames | longest | longest task | letters drawn late (over 16 ms) | their p95 |\n" +
      "|---|---:|---:|---:|---:|---:|---:|\n",
  );
  for (const [name] of chosen) {
    const { lost, p95_ms, longest_ms, task_ms, letters, letter_ms } = summed(rounds.get(name));
    const figures = [p95_ms, longest_ms, task_ms].map((ms) => `${ms.toFixed(0)} ms`);
    const late = [`${letters}/${count}`, letters ? `${letter_ms.toFixed(0)} ms` : "—"];
    const cells = [name, `${(100 * lost).toFixed(1)} %`, ...figures, ...late];
    process.stdout.write(`| ${cells.join(" | ")} |\n`);
  }
} finally {
  await browser.close();
  rmSync(folder, { recursive: true });
}
