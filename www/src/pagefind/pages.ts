import type { Result } from "../api.js";

/** Fetches `limit` results from rank `first` on. */
export type FetchResults = (first: number, limit: number) => Promise<Result[]>;

interface Wanted {
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/** The results of one query by rank, from 0: some are here, others come when they are wanted.
 *
 * Lists want several at once; those that are wanted together and stand together come in one query. */
export class Pages {
  readonly #fetch: FetchResults;
  readonly #known = new Map<number, Promise<Result>>();
  readonly #wanted = new Map<number, Wanted>();

  constructor(here: Result[], fetchResults: FetchResults) {
    this.#fetch = fetchResults;
    for (const [rank, result] of here.entries()) this.#known.set(rank, Promise.resolve(result));
  }

  /** The result of rank `rank`. A failure is not remembered. */
  at(rank: number): Promise<Result> {
    const known = this.#known.get(rank);
    if (known !== undefined) return known;
    const result = new Promise<Result>((resolve, reject) => {
      this.#wanted.set(rank, { resolve, reject });
    });
    this.#known.set(rank, result);
    // A task and not a microtask: observers of an element's visibility are called one by one.
    if (this.#wanted.size === 1) setTimeout(() => this.#fetchWanted(), 0);
    return result;
  }

  #fetchWanted(): void {
    for (const run of runs([...this.#wanted.keys()])) void this.#fetchRun(run);
  }

  async #fetchRun({ first, limit }: Run): Promise<void> {
    const waiting = Array.from({ length: limit }, (_, at) => this.#take(first + at));
    try {
      const results = await this.#fetch(first, limit);
      for (const [at, wanted] of waiting.entries()) {
        const result = results[at];
        if (result === undefined) throw new Error("The index has changed. Search again.");
        wanted?.resolve(result);
      }
    } catch (error) {
      for (let at = 0; at < limit; at++) this.#known.delete(first + at);
      for (const wanted of waiting) wanted?.reject(error);
    }
  }

  #take(rank: number): Wanted | undefined {
    const wanted = this.#wanted.get(rank);
    this.#wanted.delete(rank);
    return wanted;
  }
}

interface Run {
  first: number;
  limit: number;
}

/** Ranks as stretches without a gap. */
function runs(ranks: number[]): Run[] {
  const found: Run[] = [];
  for (const rank of ranks.sort((a, b) => a - b)) {
    const last = found.at(-1);
    if (last !== undefined && last.first + last.limit === rank) last.limit += 1;
    else found.push({ first: rank, limit: 1 });
  }
  return found;
}
