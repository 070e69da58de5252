import type { SearchErrorCode } from "./search-error.js";

/** How a query is understood.
 *
 * - `words`: words, prefixes and typing errors only.
 * - `table`: words, and meaning by tables that are part of the index; no network is downloaded.
 * - `full`: the neural network reads the query; it is downloaded at the first such query.
 */
export type Mode = "words" | "table" | "full";

/** Why a result is there: a word that occurs, or another word of the same meaning. */
export interface Match {
  /** `word`: the query's own word. `meaning`: a word near to it in meaning. */
  kind: "word" | "meaning";
  /** The word as the query has it. */
  query: string;
  /** The word as the page has it. */
  text: string;
}

/** One result; the fields are those of `siskin search --json`. */
export interface Result {
  /** Address within the site: begins with `/` and carries the heading's anchor. */
  url: string;
  /** The page's title. */
  title: string;
  /** The nearest heading, or the empty string. */
  heading: string;
  /** Plain text of the passage. */
  excerpt: string;
  /** Larger is better; comparable within one answer only. */
  score: number;
  /** Why the result is there, strongest first. */
  matches: Match[];
  /** What its author says of the page (`data-siskin-meta`), and its first picture: `image`, as the page
   * has the address, and `image_alt`. */
  meta: Record<string, string>;
  /** The page's values of filters; none unless {@link QueryOptions.facets} asks for them. */
  filters: FilterValue[];
  /** Sections of the page that answer, best first, the one above among them; none unless
   * {@link QueryOptions.sections} asks for them. */
  sections: Section[];
}

/** A section of a page: what stands below one of its headings. */
export interface Section {
  /** Address within the site: begins with `/` and carries the heading's anchor. */
  url: string;
  /** The section's own heading, or the empty string above the first. */
  heading: string;
  /** Plain text around the first match. */
  excerpt: string;
  /** Why the section is there, strongest first. */
  matches: Match[];
}

/** The answer to one query. */
export interface Answer {
  /** The query as it was asked. */
  query: string;
  /** The mode that was used. */
  mode: Mode;
  /** Milliseconds from the query's arrival at the engine to its answer, downloads included. */
  took_ms: number;
  /** Pages found, of which `results` are some. For a phrase in quotes, which only the text of a page
   * can confirm, the best 40 pages that may have it are read: at most so many of them are found. */
  total: number;
  /** Best first. */
  results: Result[];
  /** Words that the reader may have meant instead of ones that the site does not know. */
  suggestions: string[];
  /** All values of the site's filters, in order; none unless {@link QueryOptions.facets} asks for them. */
  facets: Facet[];
  /** Bundles that could not answer, where several were opened and others could; else absent. */
  failures?: Failure[];
}

/** A bundle that could not answer. */
export interface Failure {
  /** Address of its folder. */
  bundle: string;
  /** As of a `SearchError`. */
  code: SearchErrorCode;
  /** What happened, and the remedy. */
  message: string;
}

/** Which pages are wanted: those that have a value of a filter (`data-siskin-filter`), or that meet all,
 * any (all pages, if the list is empty) or none of some conditions, nested at most 15 deep. */
export type Condition =
  | FilterValue
  | { all: Condition[] }
  | { any: Condition[] }
  | { none: Condition[] };

/** What results are sorted by. */
export interface Sort {
  /** Name of the key (`data-siskin-sort`). Values are compared as numbers where all of them are. */
  key: string;
  /** `ascending` is the default. Pages without a value come last in both. */
  order?: "ascending" | "descending";
}

/** A value of a filter. */
export interface FilterValue {
  /** Name of the filter. */
  filter: string;
  value: string;
}

/** A value of a filter with the pages that have it. */
export interface Facet extends FilterValue {
  /** Pages found that have it. */
  found: number;
  /** Pages of the site that have it. */
  pages: number;
}

/** How far the download of the network is. */
export interface Progress {
  /** Bytes received so far. */
  loaded_bytes: number;
  /** Bytes in total. */
  total_bytes: number;
}

/** Options of {@link open}. */
export interface OpenOptions {
  /** Where the engine runs. `auto` (default): in a Web Worker, on the page's own thread if workers
   * are refused. `never`: on the page's own thread; long queries then hold up the page. */
  worker?: "auto" | "never";
  /** Keeps this page and the bundle for use without a connection. `false` (default): nothing is
   * kept. `true`, or the empty string: for pages inside the bundle's folder. A string: address, relative to the page, of
   * a service worker of the site that imports `siskin-sw.js`; it covers the pages in its folder. */
  offline?: boolean | string;
  /** Called as the files of the network arrive; those of the index are small. */
  onProgress?: (progress: Progress) => void;
  /** Where the addresses of results begin, of several bundles each, in their order; default: the folder
   * above the bundle. One bundle's results have addresses within its site. */
  sites?: string[] | null | undefined;
  /** Ends the opening. */
  signal?: AbortSignal;
}

/** Options of {@link Search.query}. */
export interface QueryOptions {
  /** Results wanted at most: a whole number from 1 to 100, default 10. */
  limit?: number;
  /** Results to pass over, for a further page of them: a whole number, default 0. */
  first?: number;
  /** Sections wanted at most of each result's page: a whole number from 0 to 10, default 0. */
  sections?: number;
  /** Which pages are wanted; default all. With this or `sort` an empty query finds every such page. */
  filter?: Condition;
  /** Order of the 50 best results; default by score. */
  sort?: Sort;
  /** Tag of the language that pages should be in, such as `de`: where the site has pages in it, others
   * are left out, but for those that state none. Default: all languages. */
  language?: string;
  /** Whether the answer says which filters the site has; default `false`. */
  facets?: boolean;
  /** How the query is understood; default `table`. */
  mode?: Mode;
  /** Ends the query; the promise then rejects with code `aborted`. */
  signal?: AbortSignal;
}

/** An opened bundle. */
export interface Search {
  /** The best passages for `text`.
   *
   * Rejects with a `SearchError`. A failed download is forgotten: the next call tries again. */
  query(text: string, options?: QueryOptions): Promise<Answer>;
  /** Frees the engine; open queries reject with code `closed`. May be called twice. */
  close(): void;
  /** Settles when the files for offline use are kept: `ready`, or `unavailable` with the option
   * off, without service workers, or when the registration was refused. Never rejects. */
  readonly offline: Promise<"ready" | "unavailable">;
}

/** Modes, in order of cost. @internal */
export const MODES: readonly Mode[] = ["words", "table", "full"];

/** Results when `limit` is not given. @internal */
export const DEFAULT_LIMIT = 10;

/** The largest `limit`. @internal */
export const MAXIMUM_LIMIT = 100;

/** Deepest nesting of conditions. @internal */
export const MAXIMUM_NESTED = 15;

/** The largest number of `sections`. @internal */
export const MAXIMUM_SECTIONS = 10;
