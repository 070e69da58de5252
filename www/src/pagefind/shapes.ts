import type { Mode } from "../api.js";

/** Options of one index, as Pagefind has them; others than these are accepted and have no effect. */
export interface IndexOptions {
  /** Folder of `pagefind.js`, an address; default: where the script came from. */
  basePath?: string;
  /** What the addresses of results begin with: a path or a whole address; default: the folder
   * above `basePath`. */
  baseUrl?: string;
  /** Words in an excerpt, at least 1; default 30. */
  excerptLength?: number;
  /** Text at each end of an excerpt that was cut; default none. */
  excerptEllipsis?: string;
  /** Parameter that hands the words asked for to the page found; default none. */
  highlightParam?: string;
  /** How many results of this index come for one of an index of weight 1, at least 0; default 1. */
  indexWeight?: number;
  /** Filters that every page of this index has. */
  mergeFilter?: Filter;
  /** Runs the engine on the page's own thread. Has an effect before the first search. */
  noWorker?: boolean;
  /** Siskin's own: how a term is understood; default `table`. */
  mode?: Mode;
  /** Siskin's own: folder of the Siskin bundle, relative to `basePath`; default: what this site's
   * `pagefind.js` says of its own, usually `../siskin/`. */
  siskin?: string;
}

/** Names and the values wanted of them; `any`, `all`, `none` and `not` join them. */
export type Filter = { [name: string]: unknown };

/** By filter and value, how many results have it. */
export type FilterCounts = Record<string, Record<string, number>>;

/** Options of a search; others than these are accepted and have no effect. */
export interface SearchOptions {
  /** Only results with these filters. */
  filters?: Filter | null;
  /** `asc` or `desc` by the name of a sort key: order of the best results; the first one counts. */
  sort?: Record<string, string> | null;
}

/** The answer to a search. */
export interface SearchResults {
  /** Best first. */
  results: SearchResult[];
  /** How many results there would be without filters. */
  unfilteredResultCount: number;
  /** Of these results. */
  filters: FilterCounts;
  /** Of the results there would be without filters. */
  totalFilters: FilterCounts;
  /** Milliseconds, index by index. */
  timings: { preload: number; search: number; total: number }[];
}

/** A page found, before its texts are fetched. */
export interface SearchResult {
  /** Names this result of this search, and no other. */
  id: string;
  /** The index's weight, divided by the rank in it. */
  score: number;
  /** Always empty: where on the page the words stand is not known. */
  words: number[];
  /** Fetches what a list shows. Rejects where that fails; a later call tries again. */
  data(): Promise<Fragment>;
}

/** A stretch of a page in HTML that is safe to insert. */
export interface Excerpt {
  /** Text with `<mark>` around what matches. */
  excerpt: string;
  /** The same without marks. */
  plain_excerpt: string;
}

/** Where among the words of `content` marked ones stand. */
export interface Places {
  locations: number[];
  weighted_locations: { weight: number; balanced_score: number; location: number }[];
}

/** What is known of a page found. */
export interface Fragment extends Excerpt, Places {
  /** Address of the page. */
  url: string;
  /** The same within its site. */
  raw_url: string;
  /** Plain text of the sections that answer. */
  content: string;
  /** The same in HTML. */
  raw_content: string;
  /** Words in `content`. */
  word_count: number;
  /** The page's filters. */
  filters: Record<string, string[]>;
  /** Plain text; `image` is an address. */
  meta: Record<string, string>;
  /** The headings of the sections that answer. */
  anchors: Anchor[];
  /** First the part above all headings, if it answers, then sections, best first. */
  sub_results: SubResult[];
}

/** A section of a page that answers. */
export interface SubResult extends Excerpt, Places {
  /** The heading, or the page's title; plain text. */
  title: string;
  /** Address of the heading. */
  url: string;
  /** Missing above all headings. */
  anchor?: Anchor;
}

/** A heading that can be linked to. */
export interface Anchor {
  /** Always `h2`: the level is not known. */
  element: string;
  id: string;
  /** Plain text. */
  text: string;
  /** Where among the words of `content` the section begins. */
  location: number;
}
