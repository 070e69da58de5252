/** In place of Pagefind's `pagefind.js`: the same functions, answered from a Siskin bundle. */
import { importScript } from "./import-script.js";
import type { open } from "./open.js";
import { Pagefind, type Surroundings } from "./pagefind/instance.js";
import type {
  FilterCounts,
  IndexOptions,
  SearchOptions,
  SearchResults,
} from "./pagefind/shapes.js";

/** Set by `scripts/build.js` to `"../siskin/"`, once in the file; `siskin index --pagefind` writes
 * another address in its place where the bundle lies elsewhere. */
declare const SISKIN_BUNDLE: string;

/** The script of a bundle that exports `open`. It is imported at run time and not part of this file:
 * it fits its worker and its index, whatever caches still hold of this one. */
const SCRIPT = "siskin.js";

const AROUND: Surroundings = {
  home: new URL(".", import.meta.url),
  bundle: SISKIN_BUNDLE,
  openBundle: async (runtime, folder, options) => {
    const script = await importScript(new URL(SCRIPT, runtime));
    return (script as { open: typeof open }).open(folder, options);
  },
};

let shared = new Pagefind(AROUND);

/** An instance with options and indexes of its own. Its methods are the functions below, and need
 * no `this`. */
export function createInstance(instance_options: IndexOptions = {}) {
  const instance = new Pagefind(AROUND, instance_options);
  instance.start();
  return methodsOf(() => instance);
}

function methodsOf(the: () => Pagefind) {
  return {
    /** Sets options of the site's own index. */
    options: (options: IndexOptions): Promise<void> => the().options(options),

    /** Opens the index. Rejects where that fails; a later call tries again. */
    init: (): Promise<void> => the().init(),

    /** Frees the engines. A later call opens them again. */
    destroy: (): Promise<void> => the().destroy(),

    /** Searches another site too: `path` is the address of its `pagefind` folder. Rejects when its
     * bundle cannot be opened; it is not searched then. */
    mergeIndex: (path: string, options?: IndexOptions): Promise<void> =>
      the().mergeIndex(path, options),

    /** The pages that answer `term`, best first. None for what is no question: null, nothing but
     * signs, more than 2,000 characters. Rejects where an index cannot be fetched; a later call
     * tries again. */
    search: (term: string | null, options?: SearchOptions): Promise<SearchResults> =>
      the().search(term, options),

    /** The same after a rest of `timeout_ms` (default 300); null when another call came meanwhile. */
    debouncedSearch: (
      term: string | null,
      options?: SearchOptions,
      timeout_ms?: number,
    ): Promise<SearchResults | null> => the().debouncedSearch(term, options, timeout_ms),

    /** Fetches what a search for `term` needs. Never rejects. */
    preload: (term: string | null): Promise<void> => the().preload(term),

    /** No filters. Never rejects. */
    filters: (): Promise<FilterCounts> => the().filters(),
  };
}

export const { options, mergeIndex, search, debouncedSearch, preload, filters } = methodsOf(
  () => shared,
);

/** Begins to load. Never rejects: a search learns of a failure. */
export async function init(): Promise<void> {
  shared.start();
}

/** Frees the engines, and forgets options and merged indexes. */
export async function destroy(): Promise<void> {
  await shared.destroy();
  shared = new Pagefind(AROUND);
}
