/** The value below which `share` of the values lie (nearest rank). */
export function quantile(values, share) {
  if (values.length === 0) return undefined;
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
}

export const median = (values) => quantile(values, 0.5);

export function mean(values) {
  return values.length === 0 ? undefined : values.reduce((a, b) => a + b, 0) / values.length;
}

/** Numbers in [0, 1) that depend on the seed alone (mulberry32). */
export function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** At most `count` of the values, chosen by the seed, in their own order. */
export function sample(values, count, seed) {
  const next = random(seed);
  const keyed = values.map((value, at) => ({ value, at, key: next() }));
  const chosen = keyed.sort((a, b) => a.key - b.key).slice(0, count);
  return chosen.sort((a, b) => a.at - b.at).map(({ value }) => value);
}

/** nDCG at `depth` of ranked ids; `gains` maps the relevant ids to their grades. */
export function ndcg(ranked, gains, depth = 10) {
  const discounted = (grades) =>
    grades.slice(0, depth).reduce((sum, grade, at) => sum + grade / Math.log2(at + 2), 0);
  const found = discounted([...new Set(ranked)].map((id) => gains.get(id) ?? 0));
  const ideal = discounted([...gains.values()].sort((a, b) => b - a));
  return ideal === 0 ? 0 : found / ideal;
}
