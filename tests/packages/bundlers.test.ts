/** A page that imports siskin from npm, as bundlers make it, beside a real index. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { cpSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { launch, Tab } from "../browser/harness.js";
import { ANSWER, Project, QUESTION, REPOSITORY } from "./project.js";

const BUNDLERS = join(REPOSITORY, "tests/bundlers");

/** The page's script with siskin and the bundler's own code; the engine comes with the index. */
const MOST_BYTES = 4000;

const project = new Project();
const page = project.path("page");
const site = project.path("site");
let browser: Browser;
before(async () => {
  project.installFromNpm();
  cpSync(join(BUNDLERS, "page"), page, { recursive: true });
  project.run(project.path("node_modules/.bin/siskin"), ["index", "site", "--quiet"]);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  project.remove();
});

/** The page's script has asked its question, and its box answers. */
async function checkPage(opened: Page): Promise<void> {
  const first = opened.getByRole("listitem").first().getByRole("link");
  assert.equal(await first.getAttribute("href"), ANSWER);
  await opened.locator("body[data-refused=query]").waitFor();
  await opened.getByRole("combobox").fill(QUESTION);
  await opened.getByRole("option", { name: "Cancel a request" }).first().waitFor();
}

for (const bundler of ["vite", "webpack", "esbuild"]) {
  test(`${bundler}: the bundled page finds its index and answers`, async () => {
    const out = join(site, bundler);
    project.run(process.execPath, [join(BUNDLERS, `${bundler}.js`), page, out]);
    const scripts = readdirSync(out, { recursive: true, encoding: "utf8" });
    const bytes = scripts
      .filter((name) => /\.(js|wasm)$/.test(name))
      .map((name) => readFileSync(join(out, name)).length);
    assert.ok(Math.max(...bytes) < MOST_BYTES, `${bytes} bytes`);
    const tab = await Tab.open(browser, { folder: site });
    await tab.goto(`/${bundler}/index.html`);
    await checkPage(tab.page);
    await tab.close();
  });
}

test("Vite's development server serves the index from the public folder", async () => {
  const folder = project.path("public");
  cpSync(join(site, "siskin"), join(folder, "siskin"), { recursive: true });
  const server = spawn(process.execPath, [join(BUNDLERS, "vite-serve.js"), page, folder], {
    env: project.env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const { value: address } = await createInterface(server.stdout)[Symbol.asyncIterator]().next();
    const opened = await browser.newPage();
    const complaints: string[] = [];
    opened.on("pageerror", (error) => complaints.push(String(error)));
    await opened.goto(`${address}index.html`);
    await checkPage(opened);
    await opened.close();
    assert.deepEqual(complaints, []);
  } finally {
    server.kill();
  }
});
