import type { Condition, Facet, Sort } from "../api.js";
import type { Filter, FilterCounts, SearchOptions } from "./shapes.js";

/** The filters that all pages of an index have: values by name. */
export type Tags = Map<string, string[]>;

/** Met by every page. */
export const EVERY_PAGE: Condition = { all: [] };

/** Reads the option `mergeFilter`. */
export function tagsOf(filter: Filter): Tags {
  const values = (value: unknown) => (Array.isArray(value) ? value : [value]).map(String);
  return new Map(Object.entries(filter).map(([name, value]) => [name, values(value)]));
}

/** How the parts of `any`, `all`, `none` and `not` are joined; other names mean all. */
const RULES = new Map<string, (parts: Condition[]) => Condition>([
  ["any", (any) => ({ any })],
  ["all", (all) => ({ all })],
  ["none", (none) => ({ none })],
  ["not", (none) => ({ none })],
]);

/** What pages of an index with `tags` have to meet to pass `filter`, by Pagefind's rules. `name` is the
 * filter that values without a name of their own are of. */
export function conditionOf(filter: unknown, tags: Tags, name = ""): Condition {
  if (typeof filter === "string") {
    const is_tag = tags.get(name)?.includes(filter) ?? false;
    return is_tag ? EVERY_PAGE : { filter: name, value: filter };
  }
  const all = parts(filter, name).map(([key, part]): Condition => {
    const join = RULES.get(key);
    if (join === undefined) return conditionOf(part, tags, key);
    return join(parts(part, name).map(([inner, value]) => conditionOf(value, tags, inner)));
  });
  return { all };
}

function parts(filter: unknown, name: string): [name: string, part: unknown][] {
  if (typeof filter === "string") return [[name, filter]];
  if (Array.isArray(filter)) return filter.map((part) => [name, part]);
  return Object.entries(filter ?? {});
}

/** The order that Pagefind's option `sort` asks for: by the first key alone, as with Pagefind. */
export function sortOf({ sort }: SearchOptions): Sort | undefined {
  const [first] = Object.entries(sort ?? {});
  if (first === undefined) return undefined;
  return { key: first[0], order: first[1] === "desc" ? "descending" : "ascending" };
}

/** Adds what an index's answer says of its filters to `counts`. */
export function addFacets(
  counts: FilterCounts,
  facets: Facet[],
  countOf: (facet: Facet) => number,
): void {
  for (const facet of facets) add(counts, facet.filter, facet.value, countOf(facet));
}

/** Adds `count` pages with `tags` to `counts`. */
export function addTags(counts: FilterCounts, tags: Tags, count: number): void {
  for (const [name, values] of tags) {
    for (const value of values) add(counts, name, value, count);
  }
}

function add(counts: FilterCounts, name: string, value: string, count: number): void {
  const values = own(counts, name) ?? {};
  put(counts, name, put(values, value, (own(values, value) ?? 0) + count));
}

/** A value by a name that may be `constructor` or `__proto__`: names are the site's. */
function own<T>(values: Record<string, T>, name: string): T | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined;
}

function put<T>(values: Record<string, T>, name: string, value: T): Record<string, T> {
  return Object.defineProperty(values, name, {
    value,
    configurable: true,
    enumerable: true,
    writable: true,
  });
}
