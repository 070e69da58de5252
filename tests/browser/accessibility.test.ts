/** axe-core finds no fault with the box, in each of its states and in both colour schemes. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import { launch, Tab } from "./harness.js";

const AXE = readFileSync(
  join(process.env.SISKIN_REPOSITORY ?? ".", "www/node_modules/axe-core/axe.min.js"),
  "utf8",
);

const QUESTION = "share data between threads safely";

let browser: Browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

/** What the reader did to bring the box into a state. */
interface State {
  name: string;
  /** The element's attributes. */
  attributes?: string;
  /** The page's language and direction. */
  page?: { lang: string; dir: "ltr" | "rtl" };
  /** Messages of the console that belong to the state. */
  expected?: RegExp[];
  reach(tab: Tab): Promise<void>;
}

const STATES: State[] = [
  { name: "at rest", reach: async () => {} },
  { name: "with results", reach: (tab) => tab.ask(QUESTION) },
  {
    name: "with an active result",
    reach: async (tab) => {
      await tab.ask(QUESTION);
      await tab.box.press("ArrowDown");
    },
  },
  { name: "inline", attributes: "inline", reach: (tab) => tab.ask(QUESTION) },
  { name: "without results", reach: (tab) => tab.ask("zzzz qqqq") },
  {
    name: "failed",
    expected: [/500/],
    reach: async (tab) => {
      tab.site.fail(/siskin\.json/, "status 500", 99);
      await tab.box.fill(QUESTION);
      await tab.page.getByRole("button", { name: "Try again" }).waitFor();
    },
  },
  {
    name: "as a modal",
    attributes: "modal",
    reach: async (tab) => {
      await tab.page.getByRole("button").first().click();
      await tab.ask(QUESTION);
    },
  },
  {
    name: "in a language from right to left",
    page: { lang: "ar", dir: "rtl" },
    reach: (tab) => tab.ask(QUESTION),
  },
];

for (const colorScheme of ["light", "dark"] as const) {
  for (const state of STATES) {
    test(`${state.name}, ${colorScheme}`, () => check(state, colorScheme));
  }
}

async function check(state: State, colorScheme: "light" | "dark"): Promise<void> {
  const tab = await Tab.open(browser, { colorScheme });
  const background = colorScheme === "dark" ? "#16191d" : "#fff";
  tab.site.page(
    "/test.html",
    `<style>body{background:${background}}h1{color:#808080;font-size:3rem}</style>
     <main><h1>Test</h1><siskin-search ${state.attributes ?? ""}></siskin-search></main>`,
  );
  await tab.watchAnswers();
  await tab.goto("/test.html");
  if (state.page !== undefined) {
    await tab.page.evaluate((page) => Object.assign(document.documentElement, page), state.page);
  }
  await state.reach(tab);
  assert.deepEqual(await violations(tab), []);
  await tab.close({ expected: state.expected ?? [] });
}

/** Rules of axe-core that are broken, each with the nodes that break it. */
async function violations(tab: Tab): Promise<string[]> {
  await tab.page.evaluate(AXE);
  return tab.page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(): Promise<AxeResults> } };
    interface AxeResults {
      violations: { id: string; nodes: { html: string; failureSummary: string }[] }[];
    }
    const found = (await axe.run()).violations;
    return found.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html}: ${failureSummary}`),
    );
  });
}
