import type { OpenOptions, Search } from "../api.js";
import { mixed } from "../mix.js";
import { folderUrl } from "../places.js";
import { addFacets, addTags, conditionOf, sortOf } from "./filters.js";
import { type IndexAnswer, MAXIMUM_RESULTS, SearchIndex } from "./search-index.js";
import type {
  FilterCounts,
  IndexOptions,
  SearchOptions,
  SearchResult,
  SearchResults,
} from "./shapes.js";

/** Where an instance finds its own index, and how it opens it. */
export interface Surroundings {
  /** Folder of `pagefind.js`. */
  home: URL;
  /** Folder of the bundle, relative to `home`. */
  bundle: string;
  /** Opens the bundle in `folder` with the script of the one in `runtime`. */
  openBundle(runtime: URL, folder: URL, options: OpenOptions): Promise<Search>;
}

/** What an index answered; none where it was not asked or refused the question. */
interface Asked {
  index: SearchIndex;
  answer: IndexAnswer | undefined;
}

/** One Pagefind, with indexes of its own. */
export class Pagefind {
  readonly #around: Surroundings;
  readonly #primary: SearchIndex;
  readonly #indexes: SearchIndex[];
  #searches = 0;
  #last_debounced = 0;
  #preloading = false;

  constructor(around: Surroundings, options: IndexOptions = {}) {
    this.#around = around;
    this.#primary = this.#index(around.home);
    this.#indexes = [this.#primary];
    this.#primary.set(options);
  }

  /** The code is this site's own for other sites' indexes too. */
  #index(home: URL): SearchIndex {
    const { bundle, openBundle } = this.#around;
    return new SearchIndex(home, bundle, (folder, options) =>
      openBundle(this.#primary.bundle, folder, options),
    );
  }

  /** Sets options of the instance's own index. */
  async options(options: IndexOptions): Promise<void> {
    this.#primary.set(options);
  }

  /** Opens the index. Rejects where that fails; a later call tries again. */
  async init(): Promise<void> {
    await this.#primary.open();
  }

  /** Opens the index without waiting for it; whoever asks learns of a failure. */
  start(): void {
    this.init().catch(() => {});
  }

  /** Searches another site too: `path` is the address of its `pagefind` folder. Rejects when its
   * bundle cannot be opened; it is not searched then. */
  async mergeIndex(path: string, options: IndexOptions = {}): Promise<void> {
    const home = folderUrl(path);
    if (home.href === this.#primary.home.href) return;
    const index = this.#index(home);
    index.set(options);
    await index.open();
    this.#indexes.push(index);
  }

  /** The pages that answer `term`, best first; without a term all pages, where filters or a sort key
   * are given.
   *
   * No pages for what is no question: nothing but signs, more than 2,000 characters. Rejects where an
   * index cannot be fetched; a later call tries again. */
  async search(term: string | null, options: SearchOptions = {}): Promise<SearchResults> {
    this.#searches += 1;
    const search = this.#searches;
    const text = typeof term === "string" ? term.trim() : "";
    const asked = await this.#ask(text, options);
    const is_filtered = Object.keys(options?.filters ?? {}).length > 0;
    const unfiltered = is_filtered ? await this.#ask(text, { ...options, filters: null }) : asked;
    return {
      results: resultsOf(asked, search),
      unfilteredResultCount: countOf(unfiltered),
      filters: filterCounts(asked),
      totalFilters: filterCounts(unfiltered),
      timings: asked.map(({ answer }) => timing(Math.round(answer?.took_ms ?? 0))),
    };
  }

  #ask(term: string, options: SearchOptions): Promise<Asked[]> {
    const { filters } = options ?? {};
    const sort = sortOf(options ?? {});
    const ask = async (index: SearchIndex) => {
      const filter = filters ? conditionOf(filters, index.tags) : undefined;
      const is_question = term !== "" || filter !== undefined || sort !== undefined;
      return { index, answer: is_question ? await index.ask({ term, filter, sort }) : undefined };
    };
    return Promise.all(this.#indexes.map(ask));
  }

  /** The same after a rest of `timeout_ms`; null when another call came meanwhile. */
  async debouncedSearch(
    term: string | null,
    options: SearchOptions = {},
    timeout_ms = 300,
  ): Promise<SearchResults | null> {
    this.#last_debounced += 1;
    const call = this.#last_debounced;
    void this.preload(term);
    await new Promise((resolve) => setTimeout(resolve, timeout_ms));
    if (call !== this.#last_debounced) return null;
    const found = await this.search(term, options);
    return call === this.#last_debounced ? found : null;
  }

  /** Fetches what a search for `term` needs. Never rejects. One call at a time does something: a
   * reader's next letter does not wait for the one before. */
  async preload(term: string | null): Promise<void> {
    if (this.#preloading || typeof term !== "string" || term.trim() === "") return;
    this.#preloading = true;
    await Promise.all(this.#indexes.map((index) => index.preload(term)));
    this.#preloading = false;
  }

  /** How many pages have each value of each filter. */
  async filters(): Promise<FilterCounts> {
    const counts: FilterCounts = {};
    for (const index of this.#indexes) {
      const { facets, total } = await index.filters();
      addFacets(counts, facets, ({ pages }) => pages);
      addTags(counts, index.tags, total);
    }
    return counts;
  }

  /** Frees the engines. A later call opens them again. */
  async destroy(): Promise<void> {
    for (const index of this.#indexes) index.close();
  }
}

/** The results of all indexes, best first; `search` tells searches apart. */
function resultsOf(asked: Asked[], search: number): SearchResult[] {
  const shares = asked.map(({ index, answer }) => {
    return { count: answer?.count ?? 0, weight: index.weight };
  });
  return mixed(shares).flatMap(({ index, rank, score }) => {
    const answer = asked[index]?.answer;
    if (answer === undefined) return [];
    return [
      { id: `${search}-${index}-${rank}`, score, words: [], data: () => answer.fragment(rank) },
    ];
  });
}

function countOf(asked: Asked[]): number {
  return asked.reduce((sum, { answer }) => sum + (answer?.count ?? 0), 0);
}

/** How many results have each value of each filter; of those beyond the most results nobody is told. */
function filterCounts(asked: Asked[]): FilterCounts {
  const counts: FilterCounts = {};
  for (const { index, answer } of asked) {
    addFacets(counts, answer?.facets ?? [], ({ found }) => Math.min(found, MAXIMUM_RESULTS));
    addTags(counts, index.tags, answer?.count ?? 0);
  }
  return counts;
}

function timing(took_ms: number): SearchResults["timings"][number] {
  return { preload: 0, search: took_ms, total: took_ms };
}
