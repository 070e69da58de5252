import { RUNTIME } from "./places.js";
import { SearchError } from "./search-error.js";
import { shared } from "./shared.js";
import type { Words } from "./ui/words.js";

/** Set by `scripts/build.js`: name of the script with its checksum, so that caches never pair two
 * versions. */
declare const SISKIN_BOX: string;
/** Set by `scripts/build.js`: checksum of the words of all languages together. */
declare const SISKIN_WORDS_VERSION: string;

/** What siskin-box.js exports. */
export type Rest = typeof import("./box.js");

let loading: Promise<Rest> | undefined;
let failed_count = 0;

/** All that is needed only once somebody searches. A failure is forgotten. */
export function loadRest(): Promise<Rest> {
  loading ??= importRest().catch((error) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

async function importRest(): Promise<Rest> {
  const rest = (await importScript(SISKIN_BOX)) as Rest;
  rest.takeOver(shared);
  return rest;
}

/** What the box says in `language`; undefined for English, which the box itself has, and where it
 * cannot be had. */
export async function loadWords(language: string): Promise<Words | undefined> {
  if (language === "en") return undefined;
  const name = `siskin-words-${language}.js?v=${SISKIN_WORDS_VERSION}`;
  const script = importScript(name) as Promise<{ default: Words }>;
  return script.then(
    (words) => words.default,
    () => undefined,
  );
}

/** A script of the runtime folder. Browsers remember that an address failed: after a failure it is
 * another one. Throws `network`. */
async function importScript(name: string): Promise<unknown> {
  const url = new URL(name, RUNTIME);
  if (failed_count > 0) url.searchParams.set("retry", String(failed_count));
  try {
    return await import(url.href);
  } catch (cause) {
    failed_count += 1;
    throw new SearchError("network", `Could not load ${url.href}. Check the connection.`, {
      cause,
    });
  }
}
