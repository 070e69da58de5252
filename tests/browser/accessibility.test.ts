/** axe-core finds no fault with the box, in each of its states and in both colour schemes. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import { violations } from "./axe.js";
import { launch, Tab } from "./harness.js";

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
  {
    name: "with reasons",
    reach: async (tab) => {
      await tab.ask(QUESTION);
      await tab.page.getByRole("button", { name: "Why these results?" }).click();
      await tab.page.getByRole("button", { name: "Why these results?", pressed: true }).waitFor();
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
