import type { Answer, QueryOptions, Search } from "./api.js";
import { knownError } from "./errors.js";

/** An opened bundle. A failure is forgotten, so that the next question opens it anew. */
export class Session {
  readonly #open: () => Promise<Search>;
  readonly #opened: (search: Search) => void;
  #search: Promise<Search> | undefined;
  /** Whether the network has been downloaded, of several bundles each one's. */
  hasNetwork = false;
  /** Whether a download that nobody waited for has failed: it is not tried again. */
  lacksNetwork = false;

  /** `opening` is under way already; `opened` is told of each search that begins. */
  constructor(
    open: () => Promise<Search>,
    opening: Promise<Search>,
    opened: (search: Search) => void,
  ) {
    this.#open = open;
    this.#opened = opened;
    this.#use(opening);
  }

  open(): Promise<Search> {
    return this.#search ?? this.#use(this.#open());
  }

  /** Asks. Where the site was indexed again in the meantime, the new index is opened and asked. */
  async query(text: string, options: QueryOptions): Promise<Answer> {
    const opening = this.open();
    try {
      return await this.#ask(opening, text, options);
    } catch (thrown) {
      const { code } = knownError(thrown);
      if (code === "internal" && this.#search === opening) this.close();
      // What was closed here is not opened again.
      if (code !== "closed" || this.#search === undefined) throw thrown;
      return this.#ask(this.#inPlaceOf(opening), text, options);
    }
  }

  async #ask(opening: Promise<Search>, text: string, options: QueryOptions): Promise<Answer> {
    const answer = await (await opening).query(text, options);
    // A list of pages, which an empty text asks for, needs none; of several bundles each has its own.
    const is_read = answer.mode === "full" && text.trim() !== "";
    this.hasNetwork ||= is_read && answer.failures === undefined;
    return answer;
  }

  /** The bundle opened anew, once for all questions that were asked of `replaced`. */
  #inPlaceOf(replaced: Promise<Search>): Promise<Search> {
    if (this.#search === replaced) this.close();
    return this.open();
  }

  /** Stops what runs. */
  close(): void {
    this.hasNetwork = false;
    this.lacksNetwork = false;
    this.#search?.then((search) => search.close()).catch(() => {});
    this.#search = undefined;
  }

  #use(opening: Promise<Search>): Promise<Search> {
    this.#search = opening;
    opening.then(this.#opened, () => this.#forget(opening));
    return opening;
  }

  #forget(search: Promise<Search>): void {
    if (this.#search === search) this.#search = undefined;
  }
}
