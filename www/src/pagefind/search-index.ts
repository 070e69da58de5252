import {
  type Answer,
  type Condition,
  type Facet,
  MODES,
  type Mode,
  type OpenOptions,
  type QueryOptions,
  type Result,
  type Search,
  type Sort,
} from "../api.js";
import { folderUrl } from "../places.js";
import { checkedBase, defaultBase } from "./address.js";
import { EVERY_PAGE, type Tags, tagsOf } from "./filters.js";
import { type FragmentRules, fragmentOf, WANTED_SECTIONS } from "./fragment.js";
import { Pages } from "./pages.js";
import type { Fragment, IndexOptions } from "./shapes.js";

/** Opens the Siskin bundle in a folder. */
export type OpenBundle = (folder: URL, options: OpenOptions) => Promise<Search>;

/** Results of one search at most, to keep what lists promise true and cheap: search by meaning ranks
 * half a site, what comes this late is noise, and some lists fetch all that they are told of. */
export const MAXIMUM_RESULTS = 50;

/** Results that come with the answer itself: as many as Pagefind's lists show at first. */
const RESULTS_AT_ONCE = 5;

/** Signs that begin a phrase; how many pages have one is known only once they are read. */
const QUOTES = /["“”„‟＂]/;

/** What one index answers. */
export interface IndexAnswer {
  /** Results, at most {@link MAXIMUM_RESULTS}. */
  count: number;
  facets: Facet[];
  took_ms: number;
  /** What is known of the result of a rank, from 0. */
  fragment(rank: number): Promise<Fragment>;
}

/** What is asked of an index: with a condition or an order an empty term is a question too. */
export interface Question {
  term: string;
  filter?: Condition | undefined;
  sort?: Sort | undefined;
}

/** An index under Pagefind's options: its bundle is opened when it is first asked. */
export class SearchIndex {
  weight = 1;
  tags: Tags = new Map();
  /** Folder of the index's `pagefind.js`. */
  home: URL;
  /** Folder of the bundle, relative to {@link home}. */
  #bundle: string;
  readonly #openBundle: OpenBundle;
  readonly #excerpt = { words: 30, ellipsis: "" };
  #base: string | undefined;
  #highlight = "";
  #mode: Mode = "table";
  #worker: "auto" | "never" = "auto";
  #opened: Promise<Search> | undefined;

  constructor(home: URL, bundle: string, openBundle: OpenBundle) {
    this.home = home;
    this.#bundle = bundle;
    this.#openBundle = openBundle;
  }

  /** Options of the wrong type or range have no effect, as with Pagefind. */
  set(options: IndexOptions): void {
    const { baseUrl, basePath, siskin, indexWeight, mergeFilter, mode, noWorker } = options;
    if (typeof baseUrl === "string") this.#base = checkedBase(baseUrl);
    if (typeof indexWeight === "number" && indexWeight >= 0) this.weight = indexWeight;
    if (typeof mergeFilter === "object") this.tags = tagsOf(mergeFilter);
    if (mode !== undefined && MODES.includes(mode)) this.#mode = mode;
    if (typeof noWorker === "boolean") this.#worker = noWorker ? "never" : "auto";
    if (typeof basePath === "string") this.#move(folderUrl(basePath), this.#bundle);
    if (typeof siskin === "string") this.#move(this.home, siskin);
    this.#setTexts(options);
  }

  #setTexts({ excerptLength, excerptEllipsis, highlightParam }: IndexOptions): void {
    if (typeof excerptLength === "number" && excerptLength >= 1) {
      this.#excerpt.words = Math.floor(excerptLength);
    }
    if (typeof excerptEllipsis === "string") this.#excerpt.ellipsis = excerptEllipsis;
    if (typeof highlightParam === "string") this.#highlight = highlightParam;
  }

  #move(home: URL, bundle: string): void {
    if (home.href === this.home.href && bundle === this.#bundle) return;
    this.close();
    this.home = home;
    this.#bundle = bundle;
  }

  /** Opens the bundle. A failure is not remembered. */
  async open(): Promise<Search> {
    const opening = this.#opened ?? this.#start();
    this.#opened = opening;
    try {
      return await opening;
    } catch (error) {
      this.#forget(opening);
      throw error;
    }
  }

  /** Folder of the index's bundle. */
  get bundle(): URL {
    return folderUrl(this.#bundle, this.home);
  }

  #start(): Promise<Search> {
    return this.#openBundle(this.bundle, { worker: this.#worker });
  }

  /** Fetches what a search for `term` needs and drops the answer. Never rejects. */
  async preload(term: string): Promise<void> {
    await this.#query({ term }, { limit: 1 }).catch(() => {});
  }

  /** The filters of its pages, and how many pages it has. */
  async filters(): Promise<Answer> {
    return this.#query({ term: "", filter: EVERY_PAGE }, { limit: 1 });
  }

  /** Answers a question; undefined when the engine refuses it: its term is too long, or empty and all
   * that there is. */
  async ask(question: Question): Promise<IndexAnswer | undefined> {
    const limit = QUOTES.test(question.term) ? MAXIMUM_RESULTS : RESULTS_AT_ONCE;
    try {
      const answer = await this.#query(question, { limit, sections: WANTED_SECTIONS });
      return this.#answer(question, answer);
    } catch (error) {
      if (codeOf(error) === "query") return undefined;
      throw error;
    }
  }

  /** Settings that change later do not change an answer. */
  #answer(question: Question, { total, took_ms, results, facets }: Answer): IndexAnswer {
    const rules = this.#rules();
    const pages = new Pages(results, async (first, limit) => {
      const options = { first, limit, sections: WANTED_SECTIONS };
      return (await this.#query(question, options)).results;
    });
    const tags = [...this.tags].flatMap(([filter, values]) => {
      return values.map((value) => ({ filter, value }));
    });
    const tagged = (result: Result) => ({ ...result, filters: [...result.filters, ...tags] });
    return {
      count: Math.min(total, MAXIMUM_RESULTS),
      facets,
      took_ms,
      fragment: async (rank) => fragmentOf(tagged(await pages.at(rank)), rules, question.term),
    };
  }

  #rules(): FragmentRules {
    const base = this.#base ?? defaultBase(this.home);
    return { address: { base, highlight: this.#highlight }, excerpt: { ...this.#excerpt } };
  }

  /** A search that has ended is forgotten: the next question opens the bundle again. Where it ended
   * because the site was indexed again, this question does. */
  async #query(question: Question, options: QueryOptions): Promise<Answer> {
    const asked = this.open();
    const opening = this.#opened;
    const search = await asked;
    try {
      return await this.#askOf(search, question, options);
    } catch (error) {
      const is_current = this.#opened === opening;
      const ended = ["closed", "internal"].includes(codeOf(error));
      // What was closed here is not opened again.
      const is_replaced = codeOf(error) === "closed" && this.#opened !== undefined;
      if (ended) this.#forget(opening);
      if (!is_replaced) throw error;
      if (is_current) search.close();
      return this.#askOf(await this.open(), question, options);
    }
  }

  #askOf(search: Search, { term, filter, sort }: Question, options: QueryOptions): Promise<Answer> {
    const chosen = { ...(filter && { filter }), ...(sort && { sort }), facets: true };
    return search.query(term, { mode: this.#mode, ...chosen, ...options });
  }

  #forget(opening: Promise<Search> | undefined): void {
    if (this.#opened === opening) this.#opened = undefined;
  }

  /** Frees the engine; a later question opens the bundle again. */
  close(): void {
    this.#opened?.then(
      (search) => search.close(),
      () => {},
    );
    this.#opened = undefined;
  }
}

/** The code of a `SearchError`, whichever copy of the script it came from. */
function codeOf(error: unknown): string {
  return String((error as { code?: unknown } | null)?.code);
}
