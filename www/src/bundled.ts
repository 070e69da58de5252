/** What a page gets from `import "siskin"` when it is bundled.
 *
 * The engine itself comes from the index at run time: it is always of the index's own version, and a
 * bundler has no worker and no WebAssembly to find, to inline or to forget. */
import type { OpenOptions, Search } from "./api.js";
import { importScript } from "./import-script.js";
import { SearchError } from "./search-error.js";

export type {
  Answer,
  Failure,
  Match,
  Mode,
  OpenOptions,
  Progress,
  QueryOptions,
  Result,
  Search,
  Section,
} from "./api.js";
export { SearchError, type SearchErrorCode } from "./search-error.js";

/** Where `siskin index` puts the index of a site that is at the root of its host. */
const DEFAULT_BUNDLE = "/siskin/";

// The engine has its own class of this name, and an error of it is an `instanceof` the page's.
Object.defineProperty(SearchError, Symbol.hasInstance, {
  value: (thrown: unknown) => thrown instanceof Error && thrown.name === "SearchError",
});

/** Opens the index in the folder `bundle`, an address relative to the page, or several as one.
 *
 * Rejects with a `SearchError`; nothing of a failure is remembered. */
export async function open(
  bundle: string | URL | (string | URL)[] = DEFAULT_BUNDLE,
  options: OpenOptions = {},
): Promise<Search> {
  const [first = DEFAULT_BUNDLE] = [bundle].flat();
  const engine = await load(first);
  return engine.open(bundle, options);
}

/** Defines `<siskin-search>` as the index in the folder `bundle` has it; that is then also the index
 * that the element searches unless it names another one.
 *
 * Rejects with a `SearchError`. */
export async function defineBox(bundle: string | URL = DEFAULT_BUNDLE): Promise<void> {
  await load(bundle);
}

async function load(bundle: string | URL): Promise<typeof import("./siskin.js")> {
  return (await importScript(scriptIn(bundle))) as typeof import("./siskin.js");
}

function scriptIn(bundle: string | URL): URL {
  try {
    const folder = new URL(bundle, document.baseURI);
    folder.pathname = folder.pathname.replace(/\/?$/, "/");
    return new URL("siskin.js", folder);
  } catch (cause) {
    throw new SearchError("query", `\`${bundle}\` is not an address; name a folder.`, { cause });
  }
}
