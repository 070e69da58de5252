import assert from "node:assert/strict";
import { type WebDriver, WebElement } from "selenium-webdriver";
import { Command, Name } from "selenium-webdriver/lib/command.js";
import { sampleSite } from "./harness.js";
import { Site } from "./site.js";

/** As strict as the package allows; each breach is reported, those in workers and requests that would
 * leave the site too. */
const POLICY = [
  "default-src 'self'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "require-trusted-types-for 'script'",
  "report-uri /violations",
].join("; ");

/** Longest wait for anything; the network's 26 MB are the longest. */
const PATIENCE_MS = 90_000;

/** Notes answers, and whatever must not happen. Comes before the box's script. */
const WATCH = `
  globalThis.complaints = [];
  const complain = (...what) => complaints.push(what.map(String).join(" "));
  for (const level of ["log", "info", "debug", "warn", "error"]) console[level] = complain;
  addEventListener("error", ({ message }) => complain(message));
  addEventListener("unhandledrejection", ({ reason }) => complain(reason));
  addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) =>
    complain(violatedDirective, blockedURI));
  addEventListener("siskin-results", ({ detail }) => {
    globalThis.answered = detail.query;
    globalThis.answeredMode = detail.mode;
  }, { capture: true });
  addEventListener("siskin-offline-ready", () => { globalThis.kept = true; }, { capture: true });
`;

const STYLE = `
  html[data-theme="dark"] { background: #16191d; color: #e4e8ec; }
  html[data-theme="dark"] a { color: inherit; }
  h1 { font-size: 3rem; }
  .tall { height: 150rem; }
`;

/** A page with a search box in any browser that speaks WebDriver, with a site of its own: nothing that
 * another visit stored is seen. */
export class Visit {
  readonly site: Site;
  readonly #driver: WebDriver;

  private constructor(driver: WebDriver, site: Site) {
    this.#driver = driver;
    this.site = site;
  }

  /** Starts the site with the page `/test.html`; `prepare` may change it before the browser comes. */
  static async open(
    driver: WebDriver,
    html: string,
    { path = "/test.html", prepare = (_: Site) => {} } = {},
  ): Promise<Visit> {
    const site = await new Site(sampleSite(), { policy: POLICY }).start();
    const head = `<script src="/watch.js"></script><link rel="stylesheet" href="/test.css">`;
    site.page("/test.html", `${head}<main><h1>Test</h1>${html}</main>`);
    site.page("/page-0.html", `<script src="/watch.js"></script><h1 id="part-1">Part 1</h1>`);
    site.file("/watch.js", WATCH);
    site.file("/test.css", STYLE);
    prepare(site);
    const visit = new Visit(driver, site);
    await visit.goto(path);
    return visit;
  }

  goto(path: string): Promise<void> {
    return this.#driver.get(this.site.origin + path);
  }

  address(): Promise<string> {
    return this.#driver.getCurrentUrl();
  }

  /** Runs the body of a function in the page; `root` is the shadow root of the box. */
  run<T>(body: string, ...values: unknown[]): Promise<T> {
    const root = `const root = document.querySelector("siskin-search")?.shadowRoot;`;
    return this.#driver.executeScript<T>(root + body, ...values);
  }

  /** Waits until the body of a function gives something that is not false. */
  async until(body: string, ...values: unknown[]): Promise<void> {
    const isTrue = () => this.run<boolean>(body, ...values).catch(() => false);
    await this.#driver.wait(isTrue, PATIENCE_MS, `in vain: ${body} ${JSON.stringify(values)}`);
  }

  /** The elements of the box that a selector names. */
  all(selector: string): Promise<WebElement[]> {
    return this.run(`return [...root.querySelectorAll(arguments[0])]`, selector);
  }

  /** The first such element, once it is there. */
  async one(selector: string): Promise<WebElement> {
    await this.until(`return root?.querySelector(arguments[0]) != null`, selector);
    const found = await this.run(`return root.querySelector(arguments[0])`, selector);
    assert.ok(found instanceof WebElement);
    return found;
  }

  texts(selector: string): Promise<string[]> {
    return this.run(
      `return [...root.querySelectorAll(arguments[0])].map((node) => node.textContent)`,
      selector,
    );
  }

  get input(): Promise<WebElement> {
    return this.one("input");
  }

  /** Presses keys wherever the focus is, with `modifier` held. */
  async press(keys: string, modifier?: string): Promise<void> {
    const actions = this.#driver.actions();
    if (modifier === undefined) await actions.sendKeys(keys).perform();
    else await actions.keyDown(modifier).sendKeys(keys).keyUp(modifier).perform();
  }

  pause(milliseconds: number): Promise<void> {
    return this.#driver.sleep(milliseconds);
  }

  /** Touches the middle of an element, with a finger or with the mouse. */
  async tap(element: WebElement, pointerType: "touch" | "mouse"): Promise<void> {
    const [x, y] = await this.run<number[]>(
      `const { left, top, width, height } = arguments[0].getBoundingClientRect();
      return [Math.round(left + width / 2), Math.round(top + height / 2)]`,
      element,
    );
    const actions = [
      { type: "pointerMove", duration: 0, x, y, origin: "viewport" },
      { type: "pointerDown", button: 0 },
      { type: "pointerUp", button: 0 },
    ];
    const pointer = { type: "pointer", id: pointerType, parameters: { pointerType }, actions };
    await this.#driver.execute(new Command(Name.ACTIONS).setParameter("actions", [pointer]));
  }

  /** Waits for an answer to exactly this question. */
  answered(question: string, mode?: string): Promise<void> {
    return this.until(
      `return globalThis.answered === arguments[0] && (arguments[1] ?? answeredMode) === answeredMode`,
      question,
      mode ?? null,
    );
  }

  /** Types a question over what is in the box, and waits for the answer. */
  async ask(question: string, mode?: string): Promise<void> {
    await this.input;
    await this.run(`root.querySelector("input").focus(); root.querySelector("input").select()`);
    await this.press(question);
    await this.answered(question, mode);
  }

  /** What the page and the site noted that must not happen. */
  async complaints(): Promise<string[]> {
    const told = await this.run<string[]>(`return globalThis.complaints ?? ["no watch.js"]`);
    return [...told, ...this.site.violations];
  }

  /** Ends the visit: the console must be empty, and nothing refused by the policy. */
  async close({ expected = [] }: { expected?: RegExp[] } = {}): Promise<void> {
    const complaints = await this.complaints();
    await this.#driver.get("about:blank");
    await this.site.stop();
    const unexpected = complaints.filter((text) => !expected.some((known) => known.test(text)));
    assert.deepEqual(unexpected, [], "the console must stay empty, and the policy respected");
  }
}
