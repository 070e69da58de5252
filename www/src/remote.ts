import { type Ahead, filesAhead } from "./ahead.js";
import type { Answer, OpenOptions, QueryOptions, Search } from "./api.js";
import type { Begun } from "./begin.js";
import { connect, type Line } from "./connect.js";
import { abortedError, SearchError, unlessAborted } from "./errors.js";
import { keepOffline } from "./offline.js";
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

class RemoteSearch implements Search {
  readonly #line: Line;
  readonly #options: OpenOptions;
  readonly #waiting = new Map<number, Waiting>();
  readonly #loaded = new Set<string>();
  #last_id = 0;
  #closed: SearchError | undefined;
  #kept_count = 0;
  /** Whether all files of the index have been loaded. */
  #is_whole = false;
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
    if (offline !== false) this.#offline = savesData() ? this.#keep() : this.#prefetch();
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

  /** Keeps for offline use what has been loaded since the last time. */
  #keepLoaded(): void {
    if (this.#kept_count === 0 || this.#loaded.size === this.#kept_count) return;
    this.#offline = this.#keep();
  }

  #keep(): Promise<"ready" | "unavailable"> {
    const { offline = false } = this.#options;
    if (offline === false) return Promise.resolve("unavailable");
    this.#kept_count = this.#loaded.size;
    const loaded = [SCRIPT, import.meta.url, ...this.#loaded];
    return keepOffline(offline, RUNTIME, loaded, this.#is_whole);
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
