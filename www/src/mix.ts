import type { Facet } from "./api.js";

/** A result of one index among those of several. */
export interface Place {
  /** Which index, from 0. */
  index: number;
  /** Its rank there, from 0. */
  rank: number;
  /** Larger is better. */
  score: number;
}

/** What an index brings. */
export interface Share {
  /** Results that it has. */
  count: number;
  /** How many of its results come for one of an index of weight 1. */
  weight: number;
}

/** The results of several indexes in one order.
 *
 * Scores of engines are comparable within one answer only: they are deviations from the mean of the one
 * index, where the best of pages that have nothing to do with the question are far from it too. So ranks
 * decide: of weight 2 come two results for one of weight 1, and of equal ones the first index's. */
export function mixed(shares: Share[]): Place[] {
  const places = shares.flatMap(({ count, weight }, index) =>
    Array.from({ length: count }, (_, rank) => ({ index, rank, score: weight / (rank + 1) })),
  );
  return places.sort((a, b) => b.score - a.score);
}

/** The values of all filters with the pages of all indexes, in order. */
export function addedUp(facets: Facet[]): Facet[] {
  const sums = new Map<string, Facet>();
  for (const { filter, value, found, pages } of facets) {
    const key = JSON.stringify([filter, value]);
    const sum = sums.get(key) ?? { filter, value, found: 0, pages: 0 };
    sums.set(key, { filter, value, found: sum.found + found, pages: sum.pages + pages });
  }
  const compare = (a: string, b: string) => (a < b ? -1 : Number(a > b));
  return [...sums.values()].sort(
    (a, b) => compare(a.filter, b.filter) || compare(a.value, b.value),
  );
}
