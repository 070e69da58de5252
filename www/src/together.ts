import type {
  Answer,
  Failure,
  OpenOptions,
  Progress,
  QueryOptions,
  Result,
  Search,
} from "./api.js";
import { knownError, SearchError, unlessAborted } from "./errors.js";
import { addedUp, mixed, type Place } from "./mix.js";
import { settledInTime } from "./patience.js";
import { folderUrl } from "./places.js";
import { checkQuery } from "./query.js";
import { Session } from "./session.js";

/** A bundle among several. */
export interface Member {
  /** Its folder. */
  folder: URL;
  /** Opens it. */
  open: (options: OpenOptions) => Promise<Search>;
  /** An opening that is under way. */
  opening: (options: OpenOptions) => Promise<Search>;
}

/** What a bundle may take longer than the first that answers, in milliseconds. */
const PATIENCE_MS = 4000;

/** The same for one that took longer before, until it answers. */
const PATIENCE_WITH_SLOW_MS = 500;

/** Codes of failures that are the question's and not a bundle's. */
const OF_THE_QUESTION = ["query", "aborted"];

interface Bundle {
  folder: URL;
  site: URL;
  session: Session;
  /** Whether it kept others waiting and cannot be asked yet: it is not waited for again. */
  is_opening: boolean;
  /** Whether it kept others waiting and has not answered since. */
  is_slow: boolean;
}

/** Ranks of one bundle's results: from `first` on, `limit` of them. */
interface Run {
  first: number;
  limit: number;
}

/** Opens several bundles as one. Rejects where none can be opened: with what the first one says. */
export async function openTogether(members: Member[], options: OpenOptions): Promise<Search> {
  const search = new Together(members, options);
  try {
    await search.opened();
    return search;
  } catch (error) {
    search.close();
    throw error;
  }
}

class Together implements Search {
  readonly #bundles: Bundle[];
  readonly #offline: Promise<"ready" | "unavailable">;
  #is_closed = false;

  constructor(members: Member[], options: OpenOptions) {
    const progress = new Map<number, Progress>();
    this.#bundles = members.map(({ folder, open, opening }, place) => {
      const onProgress = (own: Progress) => {
        progress.set(place, own);
        options.onProgress?.(sumOf([...progress.values()]));
      };
      const { signal: _, ...later } = options;
      const session = new Session(
        () => open({ ...later, onProgress }),
        opening({ ...options, onProgress }),
        () => {},
      );
      const site = options.sites?.[place];
      const sites_folder = site ? folderUrl(site) : folderUrl("..", folder);
      return { folder, session, site: sites_folder, is_opening: false, is_slow: false };
    });
    this.#offline = this.#whenKept();
  }

  get offline(): Promise<"ready" | "unavailable"> {
    return this.#offline;
  }

  /** Settles once it is known which bundles can be opened in time. */
  async opened(): Promise<void> {
    await this.#ofEach(({ session }) => session.open(), patienceWith);
  }

  query(text: string, options: QueryOptions = {}): Promise<Answer> {
    return unlessAborted(this.#query(text, options), options.signal);
  }

  async #query(text: string, options: QueryOptions): Promise<Answer> {
    const { first, limit, mode } = checkQuery(text, options);
    const count = this.#bundles.length;
    // As many as there will be of each, where all have enough.
    const guess = { first: Math.floor(first / count), limit: Math.ceil(limit / count) };
    const ask = async (bundle: Bundle, run: Run) => {
      const answer = await bundle.session.query(text, { ...options, ...run });
      bundle.is_slow = false;
      return answer;
    };
    const patience = (bundle: Bundle) => {
      // Networks take their time to arrive; they were asked for.
      const is_fetching = mode === "full" && !bundle.session.hasNetwork && !bundle.is_slow;
      return is_fetching ? undefined : patienceWith(bundle);
    };
    if (mode === "full") await this.opened();
    const { values: answers, failures } = await this.#ofEach(async (bundle) => {
      const answer = await ask(bundle, guess);
      const { results } = guess.first === 0 ? answer : await ask(bundle, { first: 0, limit: 1 });
      return { ...answer, best: results[0] };
    }, patience);
    const known = [...answers].sort(([, a], [, b]) => sharedWords(b.best) - sharedWords(a.best));
    const shares = known.map(([, { total }]) => ({
      count: Math.min(total, first + limit),
      weight: 1,
    }));
    const places = mixed(shares).slice(first, first + limit);
    const fetched = await this.#ofEach(async (bundle) => {
      const { results = [] } = answers.get(bundle) ?? {};
      const run = runOf(places.filter(({ index }) => known[index]?.[0] === bundle));
      const is_here = run.first >= guess.first && endOf(run) <= guess.first + results.length;
      if (run.limit === 0 || is_here) return ranked(results, guess.first);
      return ranked((await ask(bundle, run)).results, run.first);
    }, patience);
    const resultAt = ({ index, rank, score }: Place): Result[] => {
      const bundle = known[index]?.[0];
      const result = bundle && fetched.values.get(bundle)?.get(rank);
      return result && bundle ? [{ ...located(result, bundle.site), score }] : [];
    };
    const known_missing = new Set(failures.map(({ bundle }) => bundle));
    const lost = fetched.failures.filter(({ bundle }) => !known_missing.has(bundle));
    const missing = [...failures, ...lost];
    const all = [...answers.values()];
    return {
      query: text,
      mode,
      took_ms: Math.max(...all.map(({ took_ms }) => took_ms)),
      total: all.reduce((sum, { total }) => sum + total, 0),
      results: places.flatMap(resultAt),
      suggestions: [...new Set(all.flatMap(({ suggestions }) => suggestions))],
      facets: addedUp(all.flatMap(({ facets }) => facets)),
      ...(missing.length > 0 && { failures: missing }),
    };
  }

  close(): void {
    this.#is_closed = true;
    for (const { session } of this.#bundles) session.close();
  }

  async #whenKept(): Promise<"ready" | "unavailable"> {
    const states = this.#bundles.map(async ({ session }) => (await session.open()).offline);
    const kept = await Promise.allSettled(states);
    const isReady = (state: PromiseSettledResult<string>) =>
      state.status === "fulfilled" && state.value === "ready";
    return kept.every(isReady) ? "ready" : "unavailable";
  }

  /** What `work` gives for each bundle, and which failed or take much longer than the first. Rejects
   * where all failed, and where the question is to blame. */
  async #ofEach<T>(
    work: (bundle: Bundle) => Promise<T>,
    patience: (bundle: Bundle) => number | undefined,
  ): Promise<{ values: Map<Bundle, T>; failures: Failure[] }> {
    const attempt = async (bundle: Bundle) => {
      if (this.#is_closed) throw new SearchError("closed", "The search was closed; open it again.");
      if (bundle.is_opening) throw this.#late(bundle);
      return work(bundle);
    };
    const at = <R>(asked: (bundle: Bundle) => R) => {
      return (index: number) => {
        const bundle = this.#bundles[index];
        return bundle && asked(bundle);
      };
    };
    const works = this.#bundles.map(attempt);
    const outcomes = await settledInTime(
      works,
      at(patience),
      at((bundle) => this.#late(bundle)),
    );
    const values = new Map<Bundle, T>();
    const failed: [Bundle, SearchError][] = [];
    // In the order of the bundles, not of their answers: the next results continue these.
    this.#bundles.forEach((bundle, index) => {
      const outcome = outcomes[index];
      if (outcome?.status === "fulfilled") values.set(bundle, outcome.value);
      else failed.push([bundle, knownError(outcome?.reason)]);
    });
    const blamed = failed.find(([, { code }]) => OF_THE_QUESTION.includes(code));
    const decided = failed.find(([, { code }]) => code !== "late") ?? failed[0];
    const reason = blamed ?? (values.size === 0 ? decided : undefined);
    if (reason !== undefined) throw reason[1];
    const failures = failed.map(([{ folder }, { code, message }]) => {
      return { bundle: folder.href, code, message };
    });
    return { values, failures };
  }

  /** What is said of a bundle that others do not wait for. It takes part again once it is open. */
  #late(bundle: Bundle): SearchError {
    const { folder, session } = bundle;
    bundle.is_slow = true;
    bundle.is_opening = true;
    const decided = () => {
      bundle.is_opening = false;
    };
    // Where it cannot be opened the next question says why.
    if (!this.#is_closed) session.open().then(decided, decided);
    return new SearchError("late", `${folder.href} has not answered yet; it is asked again.`);
  }
}

/** How long others wait for a bundle, in milliseconds. */
function patienceWith({ is_slow }: Bundle): number {
  return is_slow ? PATIENCE_WITH_SLOW_MS : PATIENCE_MS;
}

/** How much of the question a bundle's best result has: ranks tell nothing of that. A word of like
 * meaning counts half. */
function sharedWords(best: Result | undefined): number {
  return (best?.matches ?? []).reduce((sum, { kind }) => sum + (kind === "word" ? 1 : 0.5), 0);
}

/** `results` by their rank, of which the first has `first`. */
function ranked(results: Result[], first: number): Map<number, Result> {
  return new Map(results.map((result, at) => [first + at, result]));
}

/** A bundle's places stand in the order of their ranks, without gaps. */
function runOf(places: Place[]): Run {
  return { first: places[0]?.rank ?? 0, limit: places.length };
}

function endOf({ first, limit }: Run): number {
  return first + limit;
}

/** A result with whole addresses: which site it is of can be seen from them alone. */
function located(result: Result, site: URL): Result {
  const whole = (url: string) => (url.startsWith("/") ? new URL(`.${url}`, site).href : url);
  const sections = result.sections.map((section) => ({ ...section, url: whole(section.url) }));
  return { ...result, url: whole(result.url), sections };
}

function sumOf(progress: Progress[]): Progress {
  const sum = (name: keyof Progress) => progress.reduce((all, own) => all + own[name], 0);
  return { loaded_bytes: sum("loaded_bytes"), total_bytes: sum("total_bytes") };
}
