import type { Progress, Search } from "../api.js";
import { type Answer, DEFAULT_LIMIT, MAXIMUM_LIMIT, MODES, type Mode } from "../api.js";
import { asSearchError, type SearchError } from "../errors.js";
import { folderUrl, open, RUNTIME } from "../open.js";
import { View } from "./view.js";
import * as words from "./words.js";

/** Name under which the element is defined. @internal */
export const ELEMENT_NAME = "siskin-search";

/** Keystrokes closer together than this ask once. */
const TYPING_DELAY_MS = 60;

/** What browsers report for keys that an input method consumes. */
const COMPOSING_KEY_CODE = 229;

/** Without a DOM (a worker, Node) the class exists and cannot be used. */
const Base: typeof HTMLElement = globalThis.HTMLElement ?? (class {} as typeof HTMLElement);

/** `<siskin-search>`: a search box with its list of results. Attributes: see www/README.md.
 *
 * Nothing is loaded before the reader turns to the box. */
export class SiskinSearch extends Base {
  static readonly observedAttributes = ["bundle", "mode", "limit", "label", "placeholder"];

  readonly #view: View;
  #search: Promise<Search> | undefined;
  #hasNetwork = false;
  /** The question whose results are in the list. */
  #answered = "";
  #question: AbortController | undefined;
  #typing: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    super();
    this.#view = new View(this.attachShadow({ mode: "open", delegatesFocus: true }), {
      input: () => this.#typed(),
      focus: () => this.#focused(),
      key: (event) => this.#key(event),
      leave: () => this.#leave(),
      retry: () => void this.#ask(),
    });
  }

  /** The question in the box; setting it asks. */
  get value(): string {
    return this.#view.input.value;
  }

  set value(text: string) {
    this.#view.input.value = text;
    void this.#ask();
  }

  connectedCallback(): void {
    this.#name();
    const parameter = this.getAttribute("query-parameter");
    const asked = parameter && new URLSearchParams(globalThis.location.search).get(parameter);
    if (asked) this.value = asked;
    else if (this.hasAttribute("offline")) this.#open().catch(() => {});
  }

  disconnectedCallback(): void {
    this.#close();
  }

  attributeChangedCallback(name: string, old: string | null, value: string | null): void {
    if (!this.isConnected || old === value) return;
    this.#name();
    if (name === "bundle") this.#close();
    if (name !== "label" && name !== "placeholder" && this.value !== "") void this.#ask();
  }

  #name(): void {
    const label = this.getAttribute("label") ?? "Search";
    this.#view.name(label, this.getAttribute("placeholder") ?? label);
  }

  get #mode(): Mode {
    return MODES.find((mode) => mode === this.getAttribute("mode")) ?? "table";
  }

  get #limit(): number {
    const limit = Number(this.getAttribute("limit") ?? DEFAULT_LIMIT);
    return Number.isInteger(limit) && limit >= 1 && limit <= MAXIMUM_LIMIT ? limit : DEFAULT_LIMIT;
  }

  get #bundle(): URL {
    return folderUrl(this.getAttribute("bundle") ?? RUNTIME);
  }

  /** Where result addresses begin: the folder that holds the bundle's folder. */
  get #site(): URL {
    const site = this.getAttribute("site");
    return site === null ? folderUrl("..", this.#bundle) : folderUrl(site);
  }

  /** The opened bundle; a failure is forgotten, so that the next question tries again. */
  #open(): Promise<Search> {
    if (this.#search === undefined) {
      const opening = this.#start();
      this.#search = opening;
      opening.catch(() => this.#forget(opening));
    }
    return this.#search;
  }

  async #start(): Promise<Search> {
    const offline = this.getAttribute("offline");
    const search = await open(this.#bundle, {
      offline: offline === null ? false : offline || true,
      onProgress: (progress) => this.#progress(progress),
    });
    void search.offline.then((state) => {
      if (state === "ready") this.dispatchEvent(new CustomEvent("siskin-offline-ready"));
    });
    return search;
  }

  #forget(search: Promise<Search>): void {
    if (this.#search === search) this.#search = undefined;
  }

  #close(): void {
    this.#question?.abort();
    this.#hasNetwork = false;
    this.#search?.then((search) => search.close()).catch(() => {});
    this.#search = undefined;
  }

  #focused(): void {
    this.#open().catch(() => {});
    if (this.value !== "") this.#view.show();
  }

  #typed(): void {
    clearTimeout(this.#typing);
    this.#typing = setTimeout(() => void this.#ask(), TYPING_DELAY_MS);
  }

  /** Asks what stands in the box; an answer to an older question is never shown. */
  async #ask(): Promise<void> {
    clearTimeout(this.#typing);
    this.#question?.abort();
    const question = new AbortController();
    this.#question = question;
    const text = this.value.trim();
    if (text === "") {
      this.#clear();
      return;
    }
    try {
      await this.#answer(text, question.signal);
    } catch (thrown) {
      const error = asSearchError(thrown);
      if (error.code !== "aborted" && !question.signal.aborted) this.#fail(error, text);
    }
  }

  async #answer(text: string, signal: AbortSignal): Promise<void> {
    this.#view.note(this.#view.isOpen ? "" : words.loading(), "busy");
    this.#view.show();
    const opening = this.#open();
    const search = await opening;
    for (const mode of this.#modes()) {
      if (signal.aborted) return;
      const answer = await this.#query(opening, search, text, mode, signal);
      if (!signal.aborted) this.#show(answer);
    }
  }

  /** While the network still has to be loaded, tables answer first. */
  #modes(): Mode[] {
    return this.#mode === "full" && !this.#hasNetwork ? ["table", "full"] : [this.#mode];
  }

  async #query(
    opening: Promise<Search>,
    search: Search,
    text: string,
    mode: Mode,
    signal: AbortSignal,
  ): Promise<Answer> {
    try {
      return await search.query(text, { mode, limit: this.#limit, signal });
    } catch (thrown) {
      const { code } = asSearchError(thrown);
      if (code === "internal" || code === "closed") this.#forget(opening);
      throw thrown;
    }
  }

  #clear(): void {
    this.#answered = "";
    this.#view.note("");
    this.#view.empty();
    this.#view.hide();
    this.#view.announce("");
  }

  #show({ query, mode, results, suggestions }: Answer): void {
    const none = results.length === 0;
    this.#hasNetwork ||= mode === "full";
    this.#answered = query;
    const note = none ? words.noResults(query, suggestions) : "";
    this.#view.note(note);
    this.#view.render(results, this.#site);
    this.#view.announce(none ? note : words.resultCount(results.length, query));
    this.dispatchEvent(new CustomEvent("siskin-results", { detail: { query, mode, results } }));
  }

  /** Says what went wrong. Results that tables gave to the same question stay. */
  #fail(error: SearchError, question: string): void {
    const text = words.failure(error);
    this.#view.note(text, error.code === "query" ? "plain" : "failed");
    if (this.#answered !== question) this.#view.empty();
    this.#view.show();
    this.#view.announce(text);
    this.dispatchEvent(new CustomEvent("siskin-error", { detail: error }));
  }

  #progress({ loaded_bytes, total_bytes }: Progress): void {
    const percent = Math.floor((100 * loaded_bytes) / Math.max(1, total_bytes));
    if (this.value !== "" && percent < 100) {
      this.#view.note(words.loadingNetwork(percent), "busy");
    }
  }

  /** Keys while a word is being composed belong to the input method. */
  #key(event: KeyboardEvent): void {
    if (event.isComposing || event.keyCode === COMPOSING_KEY_CODE) return;
    if (event.key === "Tab") this.#leave();
    const action = this.#actions[event.key];
    if (action === undefined) return;
    event.preventDefault();
    action(event);
  }

  readonly #actions: Record<string, (event: KeyboardEvent) => void> = {
    ArrowDown: () => this.#move(1),
    ArrowUp: () => this.#move(-1),
    Enter: (event) => this.#enter(event),
    Escape: () => this.#escape(),
  };

  #move(step: 1 | -1): void {
    this.#view.show();
    this.#view.move(step);
  }

  /** Follows the active link as a click would, with the same modifier keys; else asks at once. */
  #enter({ ctrlKey, metaKey, shiftKey }: KeyboardEvent): void {
    const click = { bubbles: true, cancelable: true, ctrlKey, metaKey, shiftKey };
    const { active } = this.#view;
    if (active === undefined) void this.#ask();
    else active.dispatchEvent(new MouseEvent("click", click));
  }

  /** Closes the list; when it is closed, clears the box. */
  #escape(): void {
    if (this.#view.isOpen) this.#view.hide();
    else this.value = "";
  }

  #leave(): void {
    if (!this.hasAttribute("inline")) this.#view.hide();
  }
}

/** Defines `<siskin-search>` where there is a DOM, once. @internal */
export function defineElement(): void {
  const registry = globalThis.customElements;
  if (registry !== undefined && registry.get(ELEMENT_NAME) === undefined) {
    registry.define(ELEMENT_NAME, SiskinSearch);
  }
}
