import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { Site } from "./site.js";

/** The browser that the tests drive. */
export const CHROMIUM = process.env.SISKIN_CHROME ?? "/usr/bin/chromium";

export const CHROMIUM_ARGUMENTS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Longest wait for anything: the machine may be slow and busy. */
const PATIENCE_MS = 90_000;

/** The folder of the indexed sample site; without it nothing here can be tested. */
export function sampleSite(): string {
  return indexedSite("SISKIN_SITE_DIR");
}

/** The folder of an indexed site that an environment variable names, or one `below` that. */
export function indexedSite(variable: string, below = ""): string {
  const folder = join(process.env[variable] ?? "", below);
  const manifest = join(folder, "siskin/siskin.json");
  assert.ok(existsSync(manifest), `${variable} must name an indexed site; no ${manifest}`);
  return folder;
}

export function launch(...options: string[]): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM,
    args: [...CHROMIUM_ARGUMENTS, ...options],
    timeout: PATIENCE_MS,
  });
}

/** A browser tab that notes all that must not happen. */
export class Tab {
  readonly page: Page;
  readonly site: Site;
  readonly #context: BrowserContext;
  /** Console messages of any kind, page errors and failed requests. */
  readonly complaints: string[] = [];
  /** Requests that left the site. */
  readonly escaped: string[] = [];

  private constructor(context: BrowserContext, page: Page, site: Site) {
    this.#context = context;
    this.page = page;
    this.site = site;
    page.on("console", (message) => this.complaints.push(message.text()));
    page.on("pageerror", (error) => this.complaints.push(String(error)));
    context.on("request", (request) => {
      if (!request.url().startsWith(`${site.origin}/`)) this.escaped.push(request.url());
    });
  }

  /** A fresh profile, with the server that it talks to. */
  static async open(
    browser: Browser,
    { folder = sampleSite(), ...options }: { colorScheme?: "light" | "dark"; folder?: string } = {},
  ): Promise<Tab> {
    const site = await new Site(folder).start();
    const context = await browser.newContext({ viewport: { width: 900, height: 800 }, ...options });
    context.setDefaultTimeout(PATIENCE_MS);
    return new Tab(context, await context.newPage(), site);
  }

  goto(path: string): Promise<unknown> {
    return this.page.goto(this.site.origin + path);
  }

  get box() {
    return this.page.locator("siskin-search").getByRole("combobox");
  }

  get options() {
    return this.page.getByRole("option");
  }

  /** Pages in the list. */
  get groups() {
    return this.page.getByRole("listbox").getByRole("group");
  }

  get status() {
    return this.page.getByRole("status");
  }

  get note() {
    return this.page.locator("siskin-search .note");
  }

  /** Types a question and waits for an answer to exactly that question. */
  async ask(question: string): Promise<void> {
    await this.box.fill(question);
    await this.page.waitForFunction(
      (wanted) => (globalThis as unknown as { answered?: string }).answered === wanted,
      question,
    );
  }

  /** Lets {@link ask} see answers; call it before the page is opened. */
  async watchAnswers(): Promise<void> {
    await this.page.addInitScript(() => {
      const note = (event: Event) => {
        const { query, mode } = (event as CustomEvent<{ query: string; mode: string }>).detail;
        Object.assign(globalThis, { answered: query, answeredMode: mode });
      };
      addEventListener("siskin-results", note, { capture: true });
    });
  }

  /** Waits until a function in the page gives a promise of true. Playwright's own wait takes the promise
   * itself for true. */
  async until<A>(
    isTrue: (value: A) => Promise<boolean>,
    value: A,
    page = this.page,
  ): Promise<void> {
    const end_ms = Date.now() + PATIENCE_MS;
    while (!(await page.evaluate(isTrue as (value: unknown) => Promise<boolean>, value))) {
      assert.ok(Date.now() < end_ms, `in vain: ${isTrue}`);
      await page.waitForTimeout(50);
    }
  }

  offline(is_offline: boolean): Promise<void> {
    return this.#context.setOffline(is_offline);
  }

  /** Ends the test: the console must be empty and nothing may have left the site. */
  async close({ expected = [] }: { expected?: RegExp[] } = {}): Promise<void> {
    await this.#context.close();
    await this.site.stop();
    const unexpected = this.complaints.filter(
      (text) => !expected.some((known) => known.test(text)),
    );
    assert.deepEqual(unexpected, [], "the console must stay empty");
    assert.deepEqual(this.escaped, [], "no request may leave the site");
  }
}
