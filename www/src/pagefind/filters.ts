import type { Filter, FilterCounts } from "./shapes.js";

/** The filters that all pages of an index have: values by name. */
export type Tags = Map<string, string[]>;

/** Reads the option `mergeFilter`. */
export function tagsOf(filter: Filter): Tags {
  const values = (value: unknown) => (Array.isArray(value) ? value : [value]).map(String);
  return new Map(Object.entries(filter).map(([name, value]) => [name, values(value)]));
}

/** How the parts of `any`, `all`, `none` and `not` are joined; other names mean all. */
const RULES = new Map<string, (held: boolean[]) => boolean>([
  ["any", (held) => held.length === 0 || held.includes(true)],
  ["all", (held) => !held.includes(false)],
  ["none", (held) => !held.includes(true)],
  ["not", (held) => !held.includes(true)],
]);

/** Whether pages with `tags` pass `filter`, by Pagefind's rules. `name` is the filter that values
 * without a name of their own are of. */
export function passes(filter: unknown, tags: Tags, name = ""): boolean {
  if (typeof filter === "string") return tags.get(name)?.includes(filter) ?? false;
  return parts(filter, name).every(([key, part]) => {
    const rule = RULES.get(key);
    if (rule === undefined) return passes(part, tags, key);
    return rule(parts(part, name).map(([inner, value]) => passes(value, tags, inner)));
  });
}

function parts(filter: unknown, name: string): [name: string, part: unknown][] {
  if (typeof filter === "string") return [[name, filter]];
  if (Array.isArray(filter)) return filter.map((part) => [name, part]);
  return Object.entries(filter ?? {});
}

/** Adds `count` results with `tags` to `counts`. */
export function countTags(counts: FilterCounts, tags: Tags, count: number): void {
  for (const [name, values] of tags) {
    counts[name] ??= {};
    for (const value of values) counts[name][value] = (counts[name][value] ?? 0) + count;
  }
}
