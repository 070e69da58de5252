import { type Ahead, filesAhead } from "./ahead.js";
import type { Answer, OpenOptions, QueryOptions, Search } from "./api.js";
import type { Begun } from "./begin.js";
import { connect, type Line } from "./connect.js";
import { abortedError, SearchError, unlessAborted } from "./errors.js";
import { filesOfPage, keepOffline, pageUrl } from "./offline.js";
import { RUNTIME, SCRIPT } from "./places.js";
import type { Reply, Request } from "./protocol.js";
import { checkQuery } from "./query.js";

/** Opens the bundle in `folder` with what has been begun for it. */
export async function openOn(begun: Begun, folder: URL, options: OpenOptions): Promise<Search> {
  const begin = Promise.all([connect(begun), filesAhead(begun)]);
  const [line, ahead] = await unlessAborted(begin, options.signal);
  const search = new RemoteSearch(line, options);
  try {
    await search.start(folder, ahead, options.signal);
    return search;
  } catch (error) {
    search.close();
    throw error;
  }
}

interface Waiting {
  resolve(answer: Answer | undefined): void;
  reject(error: SearchError): void;
}

/** Whether the reader asks for few bytes: then the files that are used are kept, and no others fetched. */
function savesData(): boolean {
  const { connection } = globalThis.navigator as { connection?: { saveData?: boolean } };
  return connection?.saveData === true;
}

/** The manifest, where it arrived on the page. */
function manifestIn(ahead: Ahead): string | undefined {
  const bytes = ahead.find(([url]) => new URL(url).pathname.endsWith("/siskin.json"))?.[1];
  return bytes && new TextDecoder().decode(bytes);
}

class RemoteSearch implements Search {
  readonly #line: Line;
  readonly #options: OpenOptions;
  readonly #waiting = new Map<number, Waiting>();
  readonly #loaded = new Set<string>();
  #last_id = 0;
  #closed: SearchError | undefined;
  /** How many of those it has been asked to keep; 0 before the first time. */
  #asked_count = 0;
  /** What is kept: then no manifest is named again, which would be a newer index's. */
  readonly #kept = new Set<string>();
  /** Whether all files of the index have been loaded. */
  #is_whole = false;
  #manifest: string | undefined;
  #offline: Promise<"ready" | "unavailable"> = Promise.resolve("unavailable");

  constructor(line: Line, options: OpenOptions) {
    this.#line = line;
    this.#options = options;
    line.onReply = (reply) => this.#receive(reply);
    line.onDeath = (error) => this.#end(error);
  }

  get offline(): Promise<"ready" | "unavailable"> {
    return this.#offline;
  }

  async start(folder: URL, ahead: Ahead, signal: AbortSignal | undefined): Promise<void> {
    const places = { bundle: folder.href, runtime: RUNTIME.href };
    await this.#request((id) => ({ type: "open", id, places, ahead }), signal);
    const { offline = false } = this.#options;
    if (offline === false) return;
    this.#manifest = manifestIn(ahead);
    this.#offline = savesData() ? this.#keep() : this.#prefetch();
  }

  async query(text: string, options: QueryOptions = {}): Promise<Answer> {
    const query = checkQuery(text, options);
    const answer = await this.#request((id) => ({ type: "query", id, query }), options.signal);
    return answer as Answer;
  }

  /** Has the whole index kept for offline use. */
  async #prefetch(): Promise<"ready" | "unavailable"> {
    try {
      await this.#request((id) => ({ type: "prefetch", id }), undefined);
    } catch {
      return "unavailable";
    }
    this.#is_whole = true;
    return this.#keep();
  }

  close(): void {
    this.#end(new SearchError("closed", "The search was closed; open it again."));
  }

  #request(
    build: (id: number) => Request,
    signal: AbortSignal | undefined,
  ): Promise<Answer | undefined> {
    if (this.#closed !== undefined) return Promise.reject(this.#closed);
    if (signal?.aborted) return Promise.reject(abortedError(signal));
    this.#last_id += 1;
    const id = this.#last_id;
    const reply = new Promise<Answer | undefined>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
    });
    const abort = () => this.#abort(id, signal);
    signal?.addEventListener("abort", abort);
    this.#line.post(build(id));
    return reply.finally(() => signal?.removeEventListener("abort", abort));
  }

  /** A reply that still comes for `id` finds nobody waiting and is dropped. */
  #abort(id: number, signal: AbortSignal | undefined): void {
    this.#take(id)?.reject(abortedError(signal));
    if (this.#closed === undefined) this.#line.post({ type: "cancel", id });
  }

  #receive(reply: Reply): void {
    if (reply.type === "progress") this.#options.onProgress?.(reply.progress);
    if (reply.type === "loaded") this.#loaded.add(reply.url);
    if (reply.type === "done") {
      this.#keepLoaded();
      this.#take(reply.id)?.resolve(reply.answer);
    }
    if (reply.type === "failed") {
      const error = new SearchError(reply.code, reply.message);
      this.#take(reply.id)?.reject(error);
      if (error.code === "internal" || error.code === "closed") this.#end(error);
    }
  }

  /** Keeps for offline use what has been loaded since the last time, and what could not be kept then. */
  #keepLoaded(): void {
    if (this.#asked_count === 0 || this.#loaded.size === this.#asked_count) return;
    this.#offline = this.#keep();
  }

  async #keep(): Promise<"ready" | "unavailable"> {
    const { offline = false } = this.#options;
    if (offline === false) return "unavailable";
    this.#asked_count = this.#loaded.size;
    const is_first = this.#kept.size === 0;
    const page = is_first ? [pageUrl(), SCRIPT, import.meta.url] : [];
    const urls = [...new Set([...page, ...this.#loaded])].filter((url) => !this.#kept.has(url));
    const state = await keepOffline(offline, RUNTIME, {
      urls,
      also: is_first ? filesOfPage().filter((url) => !urls.includes(url)) : [],
      is_whole: is_first && this.#is_whole,
      manifest: this.#manifest,
    });
    if (state === "ready") for (const url of urls) this.#kept.add(url);
    return state;
  }

  #take(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    return waiting;
  }

  #end(error: SearchError): void {
    if (this.#closed !== undefined) return;
    this.#closed = error;
    if (error.code === "internal") this.#line.retire?.();
    this.#line.stop();
    for (const id of [...this.#waiting.keys()]) this.#take(id)?.reject(error);
  }
}
