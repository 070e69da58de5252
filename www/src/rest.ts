import { importScript } from "./import-script.js";
import { partUrl } from "./places.js";
import { shared } from "./shared.js";
import type { Words } from "./ui/words.js";

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
  const rest = (await importScript(partUrl("box"))) as Rest;
  rest.takeOver(shared);
  return rest;
}

/** What the box says in `language`; undefined for English, which the box itself has, and where it
 * cannot be had. */
export async function loadWords(language: string): Promise<Words | undefined> {
  if (language === "en") return undefined;
  const script = importScript(partUrl(`words-${language}`)) as Promise<{ default: Words }>;
  return script.then(
    (words) => words.default,
    () => undefined,
  );
}
