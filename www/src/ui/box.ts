import type { Progress, Search } from "../api.js";
import { type Answer, DEFAULT_LIMIT, MAXIMUM_LIMIT, MODES, type Mode } from "../api.js";
import { asSearchError, type SearchError } from "../errors.js";
import { folderUrl, RUNTIME } from "../places.js";
import type { Frame } from "./frame.js";
import { View } from "./view.js";
import * as words from "./words.js";

/** Keystrokes closer together than this ask once. */
const TYPING_DELAY_MS = 60;

/** What browsers report for keys that an input method consumes. */
const COMPOSING_KEY_CODE = 229;

/** What `<siskin-search>` does once somebody searches. */
export class SearchBox {
  readonly #host: HTMLElement;
  readonly #view: View;
  readonly #open: () => Promise<Search>;
  #search: Promise<Search> | undefined;
  #hasNetwork = false;
  /** The question whose results are in the list. */
  #answered = "";
  #question: AbortController | undefined;
  #typing: ReturnType<typeof setTimeout> | undefined;

  /** `opening` was begun before this script was there; `open` begins anew. What has been typed
   * meanwhile is asked. */
  constructor(
    host: HTMLElement,
    frame: Frame,
    open: () => Promise<Search>,
    opening: Promise<Search>,
  ) {
    this.#host = host;
    this.#open = open;
    this.#view = new View(frame, {
      input: () => this.#typed(),
      focus: () => this.#focused(),
      key: (event) => this.#key(event),
      leave: () => this.#leave(),
      retry: () => this.ask(),
    });
    this.#use(opening);
    if (this.#text !== "" && !frame.isComposing) this.ask();
  }

  /** Asks what stands in the box. */
  ask(): void {
    void this.#ask();
  }

  /** Stops what runs; the next question opens the bundle again. */
  close(): void {
    this.#question?.abort();
    this.#hasNetwork = false;
    this.#search?.then((search) => search.close()).catch(() => {});
    this.#search = undefined;
  }

  /** An attribute has another value. */
  changed(name: string): void {
    if (name === "bundle") this.close();
    if (name === "label" || name === "placeholder") this.#view.name();
    else if (this.#text !== "") this.ask();
  }

  /** The network arrives. */
  progress({ loaded_bytes, total_bytes }: Progress): void {
    const percent = Math.floor((100 * loaded_bytes) / Math.max(1, total_bytes));
    if (this.#text !== "" && percent < 100) {
      this.#view.note(words.loadingNetwork(percent), "busy");
    }
  }

  get #text(): string {
    return this.#view.input.value.trim();
  }

  get #mode(): Mode {
    return MODES.find((mode) => mode === this.#host.getAttribute("mode")) ?? "table";
  }

  get #limit(): number {
    const limit = Number(this.#host.getAttribute("limit") ?? DEFAULT_LIMIT);
    return Number.isInteger(limit) && limit >= 1 && limit <= MAXIMUM_LIMIT ? limit : DEFAULT_LIMIT;
  }

  /** Where result addresses begin: the folder that holds the bundle's folder. */
  get #site(): URL {
    const site = this.#host.getAttribute("site");
    const bundle = folderUrl(this.#host.getAttribute("bundle") ?? RUNTIME);
    return site === null ? folderUrl("..", bundle) : folderUrl(site);
  }

  /** The opened bundle. */
  #opened(): Promise<Search> {
    return this.#search ?? this.#use(this.#open());
  }

  /** A failure is forgotten, so that the next question tries again. */
  #use(opening: Promise<Search>): Promise<Search> {
    this.#search = opening;
    opening.then(
      (search) => this.#watchOffline(search),
      () => this.#forget(opening),
    );
    return opening;
  }

  async #watchOffline(search: Search): Promise<void> {
    if ((await search.offline) === "ready") this.#tell("siskin-offline-ready");
  }

  #forget(search: Promise<Search>): void {
    if (this.#search === search) this.#search = undefined;
  }

  #tell(name: string, detail?: unknown): void {
    this.#host.dispatchEvent(new CustomEvent(name, { detail }));
  }

  #focused(): void {
    this.#opened().catch(() => {});
    if (this.#text !== "") this.#view.show();
  }

  #typed(): void {
    clearTimeout(this.#typing);
    this.#typing = setTimeout(() => this.ask(), TYPING_DELAY_MS);
  }

  /** An answer to an older question is never shown. */
  async #ask(): Promise<void> {
    clearTimeout(this.#typing);
    this.#question?.abort();
    const question = new AbortController();
    this.#question = question;
    const text = this.#text;
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
    const opening = this.#opened();
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
    this.#tell("siskin-results", { query, mode, results });
  }

  /** Says what went wrong. Results that tables gave to the same question stay. */
  #fail(error: SearchError, question: string): void {
    const text = words.failure(error);
    this.#view.note(text, error.code === "query" ? "plain" : "failed");
    if (this.#answered !== question) this.#view.empty();
    this.#view.show();
    this.#view.announce(text);
    this.#tell("siskin-error", error);
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
    if (active === undefined) this.ask();
    else active.dispatchEvent(new MouseEvent("click", click));
  }

  /** Closes the list; when it is closed, clears the box. */
  #escape(): void {
    if (this.#view.isOpen) {
      this.#view.hide();
      return;
    }
    this.#view.input.value = "";
    this.ask();
  }

  #leave(): void {
    if (!this.#host.hasAttribute("inline")) this.#view.hide();
  }
}
