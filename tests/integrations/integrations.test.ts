/** Sites that generators built with Siskin's integrations, as tests/integrations/build.sh leaves them in
 * SISKIN_INTEGRATIONS_DIR: the box is in the pages, and finds by meaning in both of the site's themes. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import { indexedSite, launch, Tab } from "../browser/harness.js";

const QUESTION = "stop a request halfway";
const HEADING = "#cancel-a-request";

type Theme = "dark" | "light";
const THEMES: Theme[] = ["light", "dark"];

interface Integration {
  /** Its folder in tests/integrations. */
  name: string;
  /** Where pages are: `install` is in `guide/install.html` or `guide/install/index.html`. */
  style: ".html" | "/";
  /** What the site's own switch for its theme keeps in `localStorage`; without it the site follows the
   * reader's scheme alone. */
  kept?: (theme: Theme) => [key: string, value: string];
  /** The site is light, whatever the reader's scheme. */
  isLight?: true;
  /** Boxes in a page, 1 by default; one is shown. */
  boxes?: number;
  /** What the site's own scripts tell the console. */
  says?: RegExp;
}

const INTEGRATIONS: Integration[] = [
  {
    name: "mdbook",
    style: ".html",
    kept: (theme) => ["mdbook-theme", theme === "dark" ? "coal" : "light"],
  },
  {
    name: "vitepress",
    style: ".html",
    kept: (theme) => ["vitepress-theme-appearance", theme],
  },
  { name: "starlight", style: "/", kept: (theme) => ["starlight-theme", theme] },
  { name: "astro", style: "/" },
  { name: "docusaurus", style: "/", kept: (theme) => ["theme", theme] },
  { name: "mkdocs", style: "/" },
  { name: "sphinx", style: ".html", kept: (theme) => ["theme", theme] },
  // Its bar has a place for wide screens and one for narrow ones.
  {
    name: "sphinx-pydata",
    style: ".html",
    kept: (theme) => ["mode", theme],
    boxes: 2,
    says: /^\[PST\]: /,
  },
  { name: "sphinx-alabaster", style: ".html", isLight: true },
];

let browser: Browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

/** The folder that the site is served from: it expects to be below `/docs/`. */
function built(name: string): string {
  return dirname(indexedSite("SISKIN_INTEGRATIONS_DIR", `${name}/docs`));
}

function pagePath(name: string, style: Integration["style"]): string {
  return `/docs/guide/${name}${style}`;
}

function siskin(...options: string[]): string {
  const command = process.env.SISKIN_BINARY;
  assert.ok(command, "SISKIN_BINARY must name the command");
  return execFileSync(command, options, { encoding: "utf8" });
}

for (const { name, style, kept, isLight, boxes = 1, says } of INTEGRATIONS) {
  test(`${name}: its pages are indexed, have the box, and answer on the command line`, () => {
    const folder = join(built(name), "docs");
    for (const page of ["install", "requests", "streams"]) {
      const file = style === "/" ? `${page}/index.html` : `${page}.html`;
      const html = readFileSync(join(folder, "guide", file), "utf8");
      assert.equal(html.match(/<siskin-search[\s>]/g)?.length, boxes, page);
      assert.match(html, /<script[^>]* src="?[./]*(docs\/)?siskin\/siskin\.js"?/, page);
    }
    const checked = JSON.parse(siskin("check", "--json", "--quiet", folder));
    const urls: string[] = checked.pages.map(({ url }: { url: string }) => url);
    assert.ok(!urls.some((url) => url.includes("private")), urls.join(" "));
    const { results } = JSON.parse(siskin("search", "--json", "--quiet", folder, QUESTION));
    assert.equal(results[0].url, `/guide/requests${style}${HEADING}`);
  });

  for (const theme of THEMES) {
    test(`${name}: a reader finds a page by meaning, theme ${theme}`, async () => {
      // Where the site has a switch, the reader's scheme is the other one: the site's theme counts.
      const other = theme === "dark" ? "light" : "dark";
      const colorScheme = kept === undefined ? theme : other;
      const tab = await Tab.open(browser, { folder: built(name), colorScheme });
      // Pictures that browsers ask for, or Starlight's pages name, and nobody made.
      tab.site.file("/favicon.ico", "");
      tab.site.file("/docs/favicon.svg", "<svg xmlns='http://www.w3.org/2000/svg'/>");
      await tab.watchAnswers();
      // Furo hides its sidebar from narrower screens.
      await tab.page.setViewportSize({ width: 1280, height: 800 });
      if (kept !== undefined) await keep(tab, kept(theme));
      await tab.goto(pagePath("install", style));
      await tab.page.getByRole("button", { name: "Search" }).click();
      await tab.ask(QUESTION);
      assert.equal(await isDark(tab), theme === "dark" && !isLight);
      const first = tab.groups.first();
      const wanted = `${tab.site.origin}${pagePath("requests", style)}${HEADING}`;
      const links = await first
        .getByRole("option")
        .evaluateAll((found) => found.map((link) => (link as HTMLAnchorElement).href));
      const headings = links.map((link) => link.replace(/:~:.*/, ""));
      assert.ok(headings.includes(wanted), links.join(" "));
      await first.getByRole("option").nth(headings.indexOf(wanted)).click();
      await tab.page.waitForURL((url) => url.href.startsWith(wanted));
      assert.match((await tab.page.locator(HEADING).textContent()) ?? "", /Cancel a request/);
      await tab.close({ expected: says === undefined ? [] : [says] });
    });
  }
}

async function keep(tab: Tab, [key, value]: [string, string]): Promise<void> {
  const script = `localStorage.setItem(${JSON.stringify(key)}, ${JSON.stringify(value)})`;
  await tab.page.addInitScript(script);
}

/** Whether the box's background is dark; its letters must be far from it. */
async function isDark(tab: Tab): Promise<boolean> {
  const [background, text] = await tab.box.evaluate((node) => {
    const { backgroundColor, color } = getComputedStyle(node);
    const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    return [backgroundColor, color].map((colour) => {
      if (context === null) return 0;
      context.fillStyle = colour;
      context.fillRect(0, 0, 1, 1);
      const [red = 0, green = 0, blue = 0] = context.getImageData(0, 0, 1, 1).data;
      return (red + green + blue) / 3;
    });
  });
  assert.ok(background !== undefined && text !== undefined);
  assert.ok(Math.abs(background - text) > 100, `background ${background}, letters ${text}`);
  return background < text;
}
