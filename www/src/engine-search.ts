import type { Answer, QueryOptions, Search } from "./api.js";
import type { Engine } from "./engine.js";
import { abortedError, asSearchError, type SearchError, unlessAborted } from "./errors.js";
import { checkQuery } from "./query.js";

/** An opened bundle whose engine runs on this very thread: in Node, at the edge. */
export class EngineSearch implements Search {
  readonly offline = Promise.resolve("unavailable" as const);
  readonly #engine: Engine;
  readonly #seen: (thrown: unknown) => SearchError;

  /** `seen` is told what a query threw, and gives what is passed on. */
  constructor(engine: Engine, seen: (thrown: unknown) => SearchError = asSearchError) {
    this.#engine = engine;
    this.#seen = seen;
  }

  async query(text: string, options: QueryOptions = {}): Promise<Answer> {
    const query = checkQuery(text, options);
    if (this.#engine.failure !== undefined) throw this.#engine.failure;
    if (options.signal?.aborted) throw abortedError(options.signal);
    const answer = this.#engine.query(query).catch((error: unknown) => {
      throw this.#seen(error);
    });
    return unlessAborted(answer, options.signal);
  }

  close(): void {
    this.#engine.close();
  }
}
