/** What the box looks like in each state and both themes, against the pictures in docs/screenshots.
 *
 * SISKIN_SCREENSHOTS=write makes them anew. Another version of Chromium draws letters differently: then
 * nothing is compared. */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import pixelmatch from "pixelmatch";
import type { Browser } from "playwright-core";
import { PNG } from "pngjs";
import { launch, Tab } from "./harness.js";
import { stubEngine } from "./stub.js";

const FOLDER = join(process.env.SISKIN_REPOSITORY ?? ".", "docs/screenshots");
const VERSION_FILE = join(FOLDER, "chromium-version.txt");
const IS_WRITING = process.env.SISKIN_SCREENSHOTS === "write";

/** Debian's fonts-dejavu-core, in which the pictures are written. */
const FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf";

/** Pixels that may differ, of each thousand. */
const TOLERANCE = 2;

const STYLE = `siskin-search { --siskin-font: 1rem/1.45 "DejaVu Sans", sans-serif; }
  body { margin: 16px; } html[data-theme="dark"] { background: #0d1013; }
  siskin-search::part(input) { caret-color: transparent; }`;

const ANSWERS = {
  "stop a request": [
    {
      url: "/requests.html#cancel",
      title: "Requests",
      sections: [
        section("cancel", "Cancel a request", "Call abort on the controller to cancel a request."),
        section("wait", "Timeouts", "A request that takes too long is stopped by itself."),
      ],
    },
    {
      url: "/workers.html#stop",
      title: "Workers",
      heading: "Ending a worker",
      excerpt: "terminate ends the worker at once, and whatever request it is serving.",
      matches: [{ kind: "meaning" as const, query: "stop", text: "terminate" }],
    },
  ],
  nothing: [],
};

function section(id: string, heading: string, excerpt: string) {
  const matches = [
    { kind: "word" as const, query: "request", text: "request" },
    { kind: "meaning" as const, query: "stop", text: "cancel" },
  ];
  return { url: `/requests.html#${id}`, heading, excerpt, matches };
}

interface State {
  name: string;
  attributes?: string;
  lang?: string;
  size?: { width: number; height: number };
  media?: Parameters<Tab["page"]["emulateMedia"]>[0];
  /** Messages of the console that belong to the state. */
  expected?: RegExp[];
  reach(tab: Tab): Promise<unknown>;
}

const answered = (tab: Tab) => tab.ask("stop a request");

const STATES: State[] = [
  { name: "empty", reach: (tab) => tab.box.waitFor() },
  {
    name: "loading",
    reach: async (tab) => {
      tab.site.hold("/siskin/siskin-worker.js");
      await tab.box.fill("stop a request");
      await tab.note.waitFor();
    },
  },
  { name: "results", reach: answered },
  {
    name: "active",
    reach: async (tab) => {
      await answered(tab);
      await tab.box.press("ArrowDown");
      await tab.box.press("ArrowDown");
    },
  },
  {
    name: "why",
    reach: async (tab) => {
      await answered(tab);
      await tab.page.getByRole("button", { name: "Why these results?" }).click();
    },
  },
  { name: "nothing", reach: (tab) => tab.ask("nothing") },
  {
    name: "failed",
    reach: async (tab) => {
      tab.site.file("/siskin/siskin-worker.js", FAILING_WORKER);
      await tab.box.fill("stop a request");
      await tab.page.getByRole("button", { name: "Try again" }).waitFor();
    },
  },
  {
    name: "offline",
    expected: [/ERR_INTERNET_DISCONNECTED/],
    reach: async (tab) => {
      await tab.offline(true);
      await tab.box.pressSequentially("stop a request");
      await tab.page.getByRole("alert").getByText("Check your connection").waitFor();
    },
  },
  { name: "modal", attributes: "modal", reach: openModal },
  { name: "small", attributes: "modal", size: { width: 360, height: 480 }, reach: openModal },
  { name: "right-to-left", lang: "ar", reach: answered },
  { name: "forced-colours", media: { forcedColors: "active" }, reach: answered },
];

/** Says of every request that the connection failed. */
const FAILING_WORKER = `addEventListener("message", ({ data: { id, type } }) => {
  if (type === "cancel") return;
  postMessage({ type: "failed", id, code: "network", message: "words.bin could not be fetched" });
});
postMessage({ type: "ready" });`;

async function openModal(tab: Tab): Promise<void> {
  await tab.page.getByRole("button").first().click();
  await answered(tab);
}

let browser: Browser;
before(async () => {
  browser = await launch("--font-render-hinting=none", "--hide-scrollbars");
  if (!IS_WRITING) return;
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(VERSION_FILE, `${browser.version()}\n`);
});
after(() => browser.close());

for (const state of STATES) {
  for (const theme of ["light", "dark"] as const) {
    test(`${state.name}, ${theme}`, async (context) => {
      const known = IS_WRITING || readFileSync(VERSION_FILE, "utf8").trim();
      if (!IS_WRITING && known !== browser.version()) {
        context.skip(`the pictures are of Chromium ${known}, this is ${browser.version()}`);
        return;
      }
      assert.ok(existsSync(FONT), `the pictures are written in ${FONT}: install fonts-dejavu-core`);
      compare(join(FOLDER, `${state.name}-${theme}.png`), await picture(state, theme));
    });
  }
}

async function picture(state: State, theme: "light" | "dark"): Promise<Buffer> {
  const tab = await Tab.open(browser, { colorScheme: theme });
  await tab.page.setViewportSize(state.size ?? { width: 560, height: 420 });
  await tab.page.emulateMedia({ reducedMotion: "reduce", ...state.media });
  const link = `<link rel="stylesheet" href="/test.css">`;
  tab.site.file("/test.css", STYLE);
  tab.site.page("/test.html", `${link}<siskin-search ${state.attributes ?? ""}></siskin-search>`);
  stubEngine(tab.site, { answers: ANSWERS });
  await tab.watchAnswers();
  await tab.goto("/test.html");
  await tab.page.evaluate(
    ({ theme, lang }) => {
      Object.assign(document.documentElement.dataset, { theme });
      Object.assign(document.documentElement, { lang, dir: lang === "ar" ? "rtl" : "ltr" });
    },
    { theme, lang: state.lang ?? "en" },
  );
  await state.reach(tab);
  const png = await tab.page.screenshot({ animations: "disabled" });
  await tab.close({ expected: state.expected ?? [] });
  return png;
}

/** Fails where more than a few pixels differ; or keeps the picture. */
function compare(path: string, png: Buffer): void {
  if (IS_WRITING) {
    writeFileSync(path, PNG.sync.write(PNG.sync.read(png), { deflateLevel: 9, colorType: 2 }));
    return;
  }
  const [wanted, seen] = [PNG.sync.read(readFileSync(path)), PNG.sync.read(png)];
  const { width, height } = wanted;
  assert.deepEqual([seen.width, seen.height], [width, height]);
  const different = pixelmatch(wanted.data, seen.data, undefined, width, height);
  const allowed = (TOLERANCE * width * height) / 1000;
  assert.ok(different <= allowed, `${different} pixels differ from ${path}; look at both`);
}
