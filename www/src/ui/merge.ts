import type { Result } from "../api.js";
import { pageOf } from "./rows.js";

/** A better answer to a question whose results are shown already: the first `pinned_count` of `shown`
 * stay where they are, since the reader may be about to choose one; the others are those of
 * `refined`, in their order. */
export function merge(shown: Result[], refined: Result[], pinned_count: number): Result[] {
  const pinned = shown.slice(0, pinned_count);
  return append(pinned, refined);
}

/** `results` and those of `more` whose pages are not among them. */
export function append(results: Result[], more: Result[]): Result[] {
  const pages = new Set(results.map(({ url }) => pageOf(url)));
  return [...results, ...more.filter(({ url }) => !pages.has(pageOf(url)))];
}
