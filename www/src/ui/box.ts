import {
  type Answer,
  MAXIMUM_LIMIT,
  type Match,
  type Mode,
  type Progress,
  type QueryOptions,
  type Result,
  type Search,
} from "../api.js";
import { knownError, SearchError } from "../errors.js";
import { Session } from "../session.js";
import { FacetBar } from "./facets.js";
import type { Frame } from "./frame.js";
import { append, merge } from "./merge.js";
import { Pace } from "./pace.js";
import { Phrases } from "./phrases.js";
import { RecentSearches } from "./recent.js";
import { whenIdle } from "./refinement.js";
import { type Group, groupOf, recentGroup } from "./rows.js";
import { Settings } from "./settings.js";
import { isComposing, View } from "./view.js";
import english from "./words/en.js";
import type { Words } from "./words.js";

/** Sections of a page that are shown. */
const SECTIONS = 3;

/** Attributes on which the answer depends. */
const QUESTIONS = ["bundle", "site", "mode", "limit", "filter", "filters", "languages"];

/** Those of them on which the addresses of results depend. */
const PLACES = ["bundle", "site"];

/** Attributes that name the box. */
const NAMES = ["label", "placeholder"];

/** What pages are chosen by. */
type Chosen = Pick<QueryOptions, "filter" | "language" | "facets">;

interface Question {
  text: string;
  chosen: Chosen;
}

/** What the page has begun before the box is there. */
export interface Start {
  /** Opens the bundle. */
  open: () => Promise<Search>;
  /** An opening that is under way. */
  opening: Promise<Search>;
  /** The attributes `bundle` and `site` by which it was begun. */
  places: (string | null)[];
  language: string;
  /** Absent for English. */
  words: Words | undefined;
}

/** What `<siskin-search>` does once somebody searches. */
export class SearchBox {
  readonly #host: HTMLElement;
  readonly #frame: Frame;
  readonly #settings: Settings;
  readonly #phrases: Phrases;
  readonly #view: View;
  readonly #session: Session;
  readonly #facets = new FacetBar(() => this.ask());
  readonly #recent = new RecentSearches(() => localStorage);
  /** What is in the list. */
  #shown: Answer | undefined;
  /** What its pages were chosen by. */
  #chosenShown: Chosen = {};
  /** Whether the reader wants to know of each result why it is there. */
  #explains = false;
  /** Results that the engine gave for it; of some the page was shown already. */
  #given = 0;
  /** Whether the list stays closed when the answer comes: nobody turned to it since. */
  #is_quiet = false;
  #question = new AbortController();
  /** Whether it is being answered. */
  #is_asking = false;
  /** Whether the element was taken away while it was. */
  #is_cut = false;
  readonly #pace = new Pace();
  #typing: ReturnType<typeof setTimeout> | undefined;

  /** What has been typed before this script was there is asked. */
  constructor(host: HTMLElement, frame: Frame, start: Start) {
    this.#host = host;
    this.#frame = frame;
    this.#settings = new Settings(host);
    this.#phrases = new Phrases(start.words ?? english, start.words ? start.language : "en");
    this.#view = new View(frame, this.#phrases, this.#facets, {
      input: () => this.#typed(),
      focus: () => this.#focused(),
      key: (event) => this.#key(event),
      leave: () => this.#leave(),
      follow: () => this.#follow(),
      recall: (search) => this.#recall(search),
      forget: () => this.#forgetRecent(),
      retry: () => this.ask(),
      more: () => void this.#attempt((signal) => this.#more(signal)),
      why: () => this.#explain(),
    });
    this.#session = new Session(start.open, start.opening, (search) => this.#opened(search));
    const observer = new MutationObserver((changes) => this.#changed(changes));
    observer.observe(host, { attributeFilter: [...QUESTIONS, ...NAMES], attributeOldValue: true });
    // While this script arrived the page may have named others, or taken the element away.
    const is_renamed = PLACES.some((name, at) => host.getAttribute(name) !== start.places[at]);
    if (is_renamed || !host.isConnected) this.#stop();
    this.#is_cut = !host.isConnected && this.#text !== "";
    if (!host.isConnected) return;
    if (is_renamed) this.#begin();
    if (this.#text !== "" && !frame.isComposing) this.ask();
    else if (frame.input.matches(":focus")) this.#showRecent();
  }

  /** Asks what stands in the box; an answer to an older question is never shown. */
  ask(): void {
    this.#is_quiet = false;
    this.#ask();
  }

  #ask(): void {
    this.#is_cut = false;
    this.#stopTyping();
    this.#question.abort();
    if (this.#text === "") this.#clear();
    else void this.#attempt((signal) => this.#answer(this.#text, signal));
  }

  /** The element was taken away, perhaps to another place of the page. */
  close(): void {
    this.#is_cut ||= this.#is_asking || this.#typing !== undefined;
    // Elsewhere it would no longer be above the page.
    this.#frame.dialog?.close();
    this.#view.unheed();
    this.#stop();
  }

  /** Asks again what was cut off, once the element is there again. */
  goOn(): void {
    if (this.#is_cut && this.#host.isConnected) this.#askAgain();
  }

  /** Stops what runs; the next question opens the bundle again. */
  #stop(): void {
    this.#stopTyping();
    this.#question.abort();
    this.#session.close();
  }

  /** Opens the bundle, so that it is there when it is asked. A question says what is wrong. */
  #begin(): void {
    this.#session.open().catch(() => {});
  }

  #stopTyping(): void {
    clearTimeout(this.#typing);
    this.#typing = undefined;
  }

  /** Attributes were set; those of other values count. An element that was taken away is closed. */
  #changed(changes: MutationRecord[]): void {
    const names = changes
      .filter(({ attributeName, oldValue }) => {
        return attributeName !== null && this.#host.getAttribute(attributeName) !== oldValue;
      })
      .map(({ attributeName }) => attributeName);
    this.#view.name();
    if (!this.#host.isConnected) return;
    if (PLACES.some((name) => names.includes(name))) {
      this.#stop();
      // Its addresses are not those of the new one.
      this.#forgetShown();
      this.#begin();
    }
    if (names.some((name) => name !== null && QUESTIONS.includes(name))) this.#askAgain();
  }

  /** Asks the same for other attributes. A list that is closed stays so. */
  #askAgain(): void {
    if (this.#text === "") return;
    this.#is_quiet = !this.#view.isOpen;
    this.#ask();
  }

  /** The network arrives. One that was not asked for arrives silently. */
  progress({ loaded_bytes, total_bytes }: Progress): void {
    const is_awaited = this.#is_asking && this.#text !== "" && this.#settings.mode === "full";
    if (is_awaited && loaded_bytes < total_bytes) {
      this.#view.note(this.#phrases.loadingNetwork(loaded_bytes / total_bytes), "busy");
    }
  }

  get #text(): string {
    return this.#view.input.value.trim();
  }

  async #opened(search: Search): Promise<void> {
    if (this.#settings.encoder === "on-open") void this.#fetchNetwork(search);
    if ((await search.offline) === "ready") this.#tell("siskin-offline-ready");
  }

  /** Any question in mode `full` fetches the network; the words of the box are one. */
  async #fetchNetwork(search: Search): Promise<void> {
    try {
      const options = { mode: "full", limit: 1 } as const;
      const { failures } = await search.query(this.#phrases.words.more, options);
      // A bundle that did not answer may do so later: `#refine` sees what comes of it.
      this.#session.hasNetwork = failures === undefined;
    } catch (thrown) {
      this.#session.lacksNetwork ||= knownError(thrown).code !== "closed";
    }
  }

  #tell(name: string, detail?: unknown): void {
    this.#host.dispatchEvent(new CustomEvent(name, { detail }));
  }

  #focused(): void {
    this.#is_quiet = false;
    this.#begin();
    if (this.#text === "") this.#showRecent();
    else this.#view.show();
  }

  #typed(): void {
    this.#is_quiet = false;
    // Enter asks now, and does not open what another question found.
    this.#view.list.activate();
    this.#stopTyping();
    this.#typing = setTimeout(() => this.#ask(), this.#pace.delay_ms);
  }

  /** Does what the reader asked for, in the place of what was asked before, and tells of failure. */
  async #attempt(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    this.#question.abort();
    const question = new AbortController();
    this.#question = question;
    this.#is_asking = true;
    this.#view.unsay();
    try {
      await work(question.signal);
    } catch (thrown) {
      if (!question.signal.aborted) this.#fail(thrown);
    }
    if (this.#question === question) this.#is_asking = false;
  }

  async #answer(text: string, signal: AbortSignal): Promise<void> {
    this.#view.note(this.#view.showsResults ? "" : this.#phrases.words.loading, "busy");
    this.#reveal();
    const [first, ...others] = this.#modes();
    const question = { text, chosen: this.#chosen() };
    const answer = await this.#query(question, first, signal);
    this.#chosenShown = question.chosen;
    await this.#show(answer);
    for (const mode of others) await this.#refine(await this.#query(question, mode, signal));
    if (this.#settings.mode === "table") await this.#refineWhenIdle(question, signal);
  }

  /** While the network still has to be loaded, tables answer first. */
  #modes(): [Mode, ...Mode[]] {
    const { mode } = this.#settings;
    return mode === "full" && !this.#session.hasNetwork ? ["table", "full"] : [mode];
  }

  /** The network's answer, where the reader need not ask for it. Without it the tables' one stays. */
  async #refineWhenIdle(question: Question, signal: AbortSignal): Promise<void> {
    if (this.#settings.encoder === "off" || this.#session.lacksNetwork) return;
    if (!this.#session.hasNetwork) await whenIdle();
    if (signal.aborted) return;
    try {
      await this.#refine(await this.#query(question, "full", signal));
    } catch {
      this.#session.lacksNetwork ||= !signal.aborted;
    }
  }

  /** Rejects with `aborted` when `signal` has fired. */
  async #query(
    { text, chosen }: Question,
    mode: Mode,
    signal: AbortSignal,
    first = 0,
    above = 0,
  ): Promise<Answer> {
    const limit = Math.min(this.#settings.limit + above, MAXIMUM_LIMIT);
    const options = { mode, limit, sections: SECTIONS, first, signal, ...chosen };
    const answer = await this.#session.query(text, options);
    signal.throwIfAborted();
    return answer;
  }

  /** What the page and the reader choose pages by. */
  #chosen(): Chosen {
    const { filter, filters, language } = this.#settings;
    const conditions = [filter, this.#facets.condition(filters)];
    const all = conditions.filter((condition) => condition !== undefined);
    const chosen = { facets: filters.length > 0, language };
    return all.length === 0 ? chosen : { ...chosen, filter: { all } };
  }

  /** The next results below those that are shown. */
  async #more(signal: AbortSignal): Promise<void> {
    const shown = this.#shown;
    if (shown === undefined) return;
    const question = { text: shown.query, chosen: this.#chosenShown };
    const failed = failedBundles(shown);
    let more: Answer;
    let results: Result[];
    let is_continued: boolean;
    // Those that come may be of pages that are shown already.
    do {
      more = await this.#query(question, shown.mode, signal, this.#given);
      is_continued = failedBundles(more) === failed;
      // Where other bundles answer than before, the results do not continue what is shown.
      if (!is_continued) more = await this.#query(question, shown.mode, signal, 0, this.#given);
      this.#given = more.results.length + (is_continued ? this.#given : 0);
      results = append(shown.results, more.results);
    } while (is_continued && more.results.length > 0 && results.length === shown.results.length);
    // Without any the engine has no others, whatever it counted.
    const total = more.results.length === 0 ? this.#given : more.total;
    await this.#render({ ...more, results, total }, shown.results.length);
    // What this has cut off: the reader waits for the network.
    const [first, ...others] = this.#modes();
    if (shown.mode !== first) return;
    const above = this.#given - this.#settings.limit;
    for (const mode of others)
      await this.#refine(await this.#query(question, mode, signal, 0, above));
  }

  #clear(): void {
    this.#forgetShown();
    this.#view.note("");
    this.#view.hide();
    this.#view.announce("");
    if (this.#frame.input.matches(":focus")) this.#showRecent();
  }

  #showRecent(): void {
    const searches = this.#settings.keepsRecent && this.#text === "" ? this.#recent.read() : [];
    if (searches.length > 0) {
      this.#view.recent(recentGroup(this.#phrases.words.recent, searches));
    }
  }

  #recall(search: string): void {
    this.#view.input.value = search;
    this.ask();
  }

  #forgetRecent(): void {
    this.#recent.clear();
    this.#clear();
    this.#view.input.focus();
  }

  #show(answer: Answer): Promise<void> {
    if (answer.query !== this.#shown?.query) this.#view.rewind();
    this.#given = answer.results.length;
    return this.#render(answer);
  }

  async #refine(answer: Answer): Promise<void> {
    const { results: shown = [], failures = [] } = this.#shown ?? {};
    const missing = new Set(failures.map(({ bundle }) => bundle));
    const lost = (answer.failures ?? []).filter(({ bundle }) => !missing.has(bundle));
    if (lost.length > 0) {
      // A bundle whose network cannot be had would take its results along. One that is late may have it.
      this.#session.lacksNetwork ||= lost.some(({ code }) => code !== "late");
      // In the place of how far it had come.
      if (this.#shown !== undefined) this.#remark(this.#shown);
      return;
    }
    // A bundle that answers nothing has no network to wait for.
    this.#session.hasNetwork ||= answer.mode === "full";
    this.#given = answer.results.length;
    const results = merge(shown, answer.results, this.#view.pinnedCount);
    await this.#render({ ...answer, results });
  }

  /** Settles once the list is there, or another one begins. Its first `known` results are there already. */
  async #render(answer: Answer, known = 0): Promise<void> {
    const { query, mode, results, total } = answer;
    const [failure] = answer.failures ?? [];
    this.#shown = answer;
    this.#facets.render(answer.facets, this.#settings.filters);
    this.#remark(answer);
    await this.#list(answer, known);
    if (this.#shown !== answer) return;
    // Other bundles than before may answer for those below.
    const count = Math.max(total, results.length);
    const counted = results.length === 0 ? [] : [this.#phrases.resultCount(count, query)];
    this.#announce([...counted, ...this.#remarks(answer)].join(" "));
    this.#tell("siskin-results", { query, mode, results });
    if (failure) this.#tell("siskin-error", new SearchError(failure.code, failure.message));
  }

  /** The line above the list. */
  #remark(answer: Answer): void {
    this.#view.note(this.#remarks(answer).join(" "), answer.failures ? "failed" : "plain");
  }

  /** That there are no results, and that a bundle's are missing. */
  #remarks({ query, results, suggestions, failures }: Answer): string[] {
    const none = results.length === 0 ? [this.#phrases.noResults(query, suggestions)] : [];
    return failures ? [...none, this.#phrases.words.partial] : none;
  }

  #list({ query, mode, results, total }: Answer, known = 0): Promise<void> {
    const { site, pointsAtText } = this.#settings;
    const explain = (matches: Match[]) =>
      this.#explains ? this.#phrases.reasons(query, matches, mode) : this.#phrases.pairs(matches);
    const has_more = total > this.#given && results.length < MAXIMUM_LIMIT;
    this.#view.explain(this.#explains ? this.#phrases.words.modes[mode] : undefined);
    const groups: Group[] = [];
    return this.#pace.draw(results.length, known, (count) => {
      const added = results.slice(groups.length, count);
      groups.push(...added.map((result) => groupOf(result, { site, pointsAtText }, explain)));
      this.#view.render(groups, has_more, results.length);
      this.#reveal();
    });
  }

  /** Shows reasons, or takes them away. A screen reader is told how the answer was found. */
  #explain(): void {
    const shown = this.#shown;
    if (shown === undefined) return;
    this.#explains = !this.#explains;
    void this.#list(shown);
    if (this.#explains) this.#view.announce(this.#phrases.words.modes[shown.mode]);
  }

  /** Says what went wrong. Results that were found for the same question stay. */
  #fail(thrown: unknown): void {
    const error = knownError(thrown);
    const text = this.#phrases.failure(error);
    this.#view.note(text, error.code === "query" ? "plain" : "failed");
    if (this.#shown?.query !== this.#text) this.#forgetShown();
    this.#reveal();
    this.#announce(text);
    this.#tell("siskin-error", error);
  }

  #reveal(): void {
    if (!this.#is_quiet) this.#view.show();
  }

  #announce(text: string): void {
    if (!this.#is_quiet) this.#view.announce(text);
  }

  #forgetShown(): void {
    this.#pace.stop();
    this.#shown = undefined;
    this.#facets.render([], []);
    this.#view.empty();
  }

  /** Keys while a word is being composed belong to the input method. */
  #key(event: KeyboardEvent): void {
    if (isComposing(event)) return;
    const action = this.#actions[event.key];
    if (action === undefined || (event.key === "Escape" && !this.#hasToEscape())) return;
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
    this.#is_quiet = false;
    this.#view.show();
    this.#view.list.move(step);
  }

  /** Follows the active link as a click would, with the same modifier keys; else asks at once. */
  #enter({ ctrlKey, metaKey, shiftKey }: KeyboardEvent): void {
    const click = { bubbles: true, cancelable: true, composed: true, ctrlKey, metaKey, shiftKey };
    const { active } = this.#view.list;
    if (active === undefined) this.ask();
    else active.dispatchEvent(new MouseEvent("click", click));
  }

  /** Whether Escape is the box's: else a dialog around it may close, or the page do what it does then. */
  #hasToEscape(): boolean {
    return this.#frame.dialog !== undefined || this.#view.isOpen || this.#view.input.value !== "";
  }

  /** Closes the modal or the list; when that is closed, clears the box. */
  #escape(): void {
    if (this.#frame.dialog !== undefined) {
      this.#frame.dialog?.close();
      return;
    }
    if (this.#view.isOpen) {
      this.#hide();
      return;
    }
    this.#view.input.value = "";
    this.ask();
    this.#view.hide();
  }

  /** A link of the list is followed, which may lead to another place of this page. */
  #follow(): void {
    if (this.#settings.keepsRecent) this.#recent.add(this.#shown?.query ?? "");
    this.#frame.dialog?.close();
    this.#leave();
  }

  #leave(): void {
    if (!this.#settings.isInline && this.#frame.dialog === undefined) this.#hide();
  }

  /** Closes the list. What comes later does not open it: the reader has turned away. */
  #hide(): void {
    this.#is_quiet = true;
    this.#view.hide();
  }
}

/** Which bundles did not answer. */
function failedBundles({ failures = [] }: Answer): string {
  return failures.map(({ bundle }) => bundle).join(" ");
}
