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
   * kept. `true`: for pages inside the bundle's folder. A string: address, relative to the page, of
   * a service worker of the site that imports `siskin-sw.js`; it covers the pages in its folder. */
  offline?: boolean | string;
  /** Called as the files of the network arrive; those of the index are small. */
  onProgress?: (progress: Progress) => void;
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

/** The largest number of `sections`. @internal */
export const MAXIMUM_SECTIONS = 10;
