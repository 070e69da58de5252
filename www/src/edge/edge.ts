import type { Answer, Mode, OpenOptions, QueryOptions, Search } from "../api.js";
import { Engine } from "../engine.js";
import { EngineSearch } from "../engine-search.js";
import { asSearchError, SearchError, type SearchErrorCode } from "../errors.js";
import { asFolder } from "../folder.js";
import { apart } from "./apart.js";
import { newModules } from "./glue.js";

export type {
  Answer,
  Condition,
  Facet,
  Failure,
  FilterValue,
  Match,
  Mode,
  Progress,
  QueryOptions,
  Result,
  Search,
  Section,
  Sort,
} from "../api.js";
export { SearchError, type SearchErrorCode } from "../errors.js";

/** What gives the bundle's files: a binding to static files such as `env.ASSETS`, or another service. */
export interface Files {
  fetch(address: string, init?: RequestInit): Promise<Response>;
}

/** Options of {@link open}. */
export interface EdgeOptions extends Pick<OpenOptions, "onProgress" | "signal"> {
  /** What gives the bundle's files; default: `fetch`, over the network. */
  files?: Files;
}

/** Opens the bundle in the folder at the address `bundle`, which is absolute; of `files` that are a binding the
 * host does not matter.
 *
 * Keep the search for the requests that follow: what one has fetched the next need not fetch. Rejects with a
 * `SearchError`. */
export async function open(bundle: string | URL, options: EdgeOptions = {}): Promise<Search> {
  const {
    files = { fetch: (address, init) => fetch(address, init) },
    signal,
    onProgress,
  } = options;
  const folder = folderOf(bundle);
  const engine = await Engine.open({
    source: {
      // Caches are the platform's affair: what it does not know of `cache` it refuses.
      fetcher: (url, { cache: _, ...init }) => files.fetch(url.href, init),
      ...(signal && { signal }),
    },
    modules: newModules(),
    bundle: folder,
    runtime: folder,
    now: () => performance.now(),
    report: (progress) => onProgress?.(progress),
    once: apart,
  });
  return new EngineSearch(engine);
}

function folderOf(bundle: string | URL): URL {
  try {
    return asFolder(new URL(bundle));
  } catch (cause) {
    const message = `\`${bundle}\` is no address; name the bundle's folder as https://docs.example/siskin/.`;
    throw new SearchError("query", message, { cause });
  }
}

/** Options of {@link answer}. */
export interface AnswerOptions {
  /** Address of the bundle's folder, relative to the request's; default `/siskin/`. */
  bundle?: string | URL;
  /** What gives the bundle's files; default: `fetch`, over the network. */
  files?: Files;
  /** Modes that may be asked for; default `words` and `table`. A request that names none gets `table`, or the
   * first of them. In mode `full` the first question of an isolate loads the network. */
  modes?: Mode[];
  /** Further headers of every response, such as `access-control-allow-origin`. */
  headers?: Record<string, string>;
}

/** Answers a GET request for `?q=TEXT`, if wanted with `mode`, `limit`, `first`, `sections` and `language`, as
 * the `Answer` in JSON; what is wrong as `{"error": {"code", "message"}}` with the status that fits. Never rejects. */
export async function answer(request: Request, options: AnswerOptions = {}): Promise<Response> {
  const { modes = ["words", "table"], headers = {} } = options;
  const reply = (status: number, content: unknown, more: Record<string, string> = {}) => {
    const body = request.method === "HEAD" ? null : JSON.stringify(content);
    const type = { "content-type": "application/json; charset=utf-8" };
    return new Response(body, { status, headers: { ...type, ...more, ...headers } });
  };
  if (request.method !== "GET" && request.method !== "HEAD") {
    const message = `Ask with GET, not with ${request.method}.`;
    return reply(405, { error: { code: "query", message } }, { allow: "GET, HEAD" });
  }
  try {
    const { text, ...query } = questionOf(new URL(request.url), modes);
    return reply(200, await ask(request, options, (search) => search.query(text, query)));
  } catch (thrown) {
    const { code, message } = asSearchError(thrown);
    return reply(STATUS[code] ?? 500, { error: { code, message } });
  }
}

/** Statuses of failures that are no defect. */
const STATUS: Partial<Record<SearchErrorCode, number>> = {
  query: 400,
  unsupported: 501,
  network: 502,
  corrupt: 502,
  version: 502,
  closed: 503,
};

/** What the address asks; throws `query`. */
function questionOf({ searchParams }: URL, modes: Mode[]): QueryOptions & { text: string } {
  const text = searchParams.get("q");
  if (text === null) throw new SearchError("query", "Say what is searched for: ?q=TEXT.");
  const usual = modes.includes("table") ? "table" : modes[0];
  const mode = (searchParams.get("mode") ?? usual) as Mode;
  if (!modes.includes(mode)) {
    throw new SearchError("query", `mode is \`${mode}\`; use ${modes.join(" or ")}.`);
  }
  const number = (name: "limit" | "first" | "sections") => {
    const value = searchParams.get(name);
    // `Number` reads "" as 0.
    return value === null ? {} : { [name]: value.trim() === "" ? Number.NaN : Number(value) };
  };
  const language = searchParams.get("language");
  return {
    text,
    mode,
    ...number("limit"),
    ...number("first"),
    ...number("sections"),
    ...(language && { language }),
  };
}

/** What is open in this isolate: by where its files come from, then by the bundle's address. */
const opened = new WeakMap<object, Map<string, () => Promise<Search>>>();

/** Where files come from over the network. */
const NETWORK = {};

/** Bundles that are open at once, the latest: requests name their host themselves. */
const MOST_OPEN = 8;

/** Opening takes two small files: who waits for another's waits so long. */
const OPENING_PATIENCE_MS = 300;

/** Asks the bundle that the request is for. Where a file that it needs is gone since the site was indexed again, it is
 * opened anew; so it is for the next request after a defect. */
async function ask(
  request: Request,
  { bundle = "/siskin/", files }: AnswerOptions,
  query: (search: Search) => Promise<Answer>,
): Promise<Answer> {
  const folder = new URL(bundle, request.url);
  const key = folder.href;
  const searches = opened.get(files ?? NETWORK) ?? new Map<string, () => Promise<Search>>();
  opened.set(files ?? NETWORK, searches);
  for (let attempt = 0; ; attempt++) {
    const begin = () => open(folder, files && { files });
    const known = searches.get(key) ?? apart(begin, OPENING_PATIENCE_MS);
    searches.set(key, known);
    const [oldest] = searches.keys();
    if (searches.size > MOST_OPEN && oldest !== undefined) searches.delete(oldest);
    const search = await known();
    try {
      return await query(search);
    } catch (thrown) {
      const { code } = asSearchError(thrown);
      // Others may be asking it: it is left to them, and to the garbage collector.
      if ((code === "closed" || code === "internal") && searches.get(key) === known)
        searches.delete(key);
      if (code !== "closed" || attempt > 0) throw thrown;
    }
  }
}
