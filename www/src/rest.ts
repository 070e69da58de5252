import { importScript } from "./import-script.js";
import { RUNTIME } from "./places.js";
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

/** All that is needed only once somebody searches. A failure is forgotten. */
export function loadRest(): Promise<Rest> {
  loading ??= importRest().catch((error) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

async function importRest(): Promise<Rest> {
  const rest = (await importScript(new URL(SISKIN_BOX, RUNTIME))) as Rest;
  rest.takeOver(shared);
  return rest;
}

/** What the box says in `language`; undefined for English, which the box itself has, and where it
 * cannot be had. */
export async function loadWords(language: string): Promise<Words | undefined> {
  if (language === "en") return undefined;
  const name = `siskin-words-${language}.js?v=${SISKIN_WORDS_VERSION}`;
  const script = importScript(new URL(name, RUNTIME)) as Promise<{ default: Words }>;
  return script.then(
    (words) => words.default,
    () => undefined,
  );
}
