import type { Answer, Progress } from "./api.js";
import { asSearchError, SearchError } from "./errors.js";
import { type FileEntry, loadBytes, loadFile, loadShard, loadText, type Source } from "./load.js";
import {
  ENCODER_FOLDER,
  ENCODER_MANIFEST_NAME,
  MANIFEST_NAME,
  type Manifest,
  parseEncoderManifest,
  parseManifest,
  type SizedFile,
} from "./manifest.js";
import type {
  EncodedQuery,
  EncoderModule,
  Found,
  Modules,
  Need,
  QueryEncoder,
  SearchEngine,
  Startable,
} from "./modules.js";
import { type CheckedQuery, isList } from "./query.js";

/** All that the engine needs from its surroundings: no `document`, no clock of its own. */
export interface Environment {
  source: Source;
  modules: Modules;
  /** Folder of the wasm files. */
  runtime: URL;
  /** Folder of the bundle. */
  bundle: URL;
  /** Milliseconds from any fixed point. */
  now(): number;
  /** Told how downloads go. */
  report(progress: Progress): void;
  /** How the network is loaded once for all queries, where these cannot wait for each other's promises; shards
   * are then loaded by each query for itself. */
  once?<T>(load: () => Promise<T>): () => Promise<T>;
}

/** All who ask wait for one promise; a failure is forgotten. */
function shared<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined;
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
}

/** Rounds in which a query gets its shards: dictionary, foreign words, corrections, codes, records,
 * and as many again. */
const MAXIMUM_ROUNDS = 12;

const PREFETCHES_AT_ONCE = 8;

/** Codes of files that are gone or not what they were. */
const OF_A_FILE = ["network", "corrupt"];

/** Loads a bundle and answers queries; the same in a worker, a page and Node. */
export class Engine {
  readonly #environment: Environment;
  readonly #manifest: Manifest;
  readonly #search: SearchEngine;
  readonly #loading = new Map<string, Promise<void>>();
  /** False once the server has sent a whole file where a part of it was asked for. */
  #sends_blocks = true;
  readonly #network: () => Promise<QueryEncoder>;
  #encoder: QueryEncoder | undefined;
  #failure: SearchError | undefined;

  private constructor(environment: Environment, manifest: Manifest, search: SearchEngine) {
    this.#environment = environment;
    this.#manifest = manifest;
    this.#search = search;
    this.#network = (environment.once ?? shared)(() => this.#loadEncoder());
  }

  /** Loads the manifest and the small wasm module; shards of the index come with the queries that
   * need them. */
  static async open(environment: Environment): Promise<Engine> {
    const [module, manifest] = await Promise.all([
      loadModule(environment, environment.modules.search),
      loadManifest(environment),
    ]);
    const search = fromWasm(() => new module.SearchEngine(manifest.json));
    // The signal was for the opening: later files are fetched without it.
    const source = { fetcher: environment.source.fetcher };
    return new Engine({ ...environment, source }, manifest, search);
  }

  /** Why the engine can no longer be used, once that is so. */
  get failure(): SearchError | undefined {
    return this.#failure;
  }

  /** Answers one query. A failed download of the network is forgotten, so that the next query in
   * mode `full` tries again; a wasm trap closes the engine. Throws `closed` where files are gone since the
   * site was indexed again: opened anew, it answers from the new index. */
  async query(query: CheckedQuery): Promise<Answer> {
    const started_ms = this.#environment.now();
    try {
      return await this.#answer(query, started_ms);
    } catch (error) {
      throw (await this.#isReplaced(error)) ? replacedError() : error;
    }
  }

  async #answer(query: CheckedQuery, started_ms: number): Promise<Answer> {
    const is_read = query.mode === "full" && !isList(query);
    const encoded = is_read ? await this.#encode(query.text) : undefined;
    const found = await this.#ask(query, encoded);
    const took_ms = this.#environment.now() - started_ms;
    return { query: query.text, mode: query.mode, took_ms, ...found };
  }

  /** Fetches every file of the index, so that a service worker can keep it. What is fetched is checked
   * when it is used. */
  async prefetch(): Promise<void> {
    const paths = this.#call(() => this.#search.files());
    const { source, bundle } = this.#environment;
    const fetchNext = async (): Promise<void> => {
      for (let path = paths.pop(); path !== undefined; path = paths.pop()) {
        await loadBytes(source, new URL(path, bundle));
      }
    };
    await Promise.all(Array.from({ length: PREFETCHES_AT_ONCE }, fetchNext));
  }

  /** Frees the wasm memory; a trapped instance is left to the garbage collector. */
  close(): void {
    if (this.#failure !== undefined) return;
    this.#failure = new SearchError("closed", "The search was closed; open it again.");
    this.#search.free();
    this.#encoder?.free();
  }

  /** Whether `error` came about because there is another index now in the place of this one. */
  async #isReplaced(error: unknown): Promise<boolean> {
    if (!OF_A_FILE.includes(asSearchError(error).code)) return false;
    try {
      return (await loadManifest(this.#environment)).json !== this.#manifest.json;
    } catch {
      return false;
    }
  }

  /** Asks until nothing is missing. Each round names all the shards that it needs: they are fetched
   * side by side. */
  async #ask(query: CheckedQuery, encoded: EncodedQuery | undefined): Promise<Found> {
    const search = () => this.#search.search(query, encoded);
    for (let round = 0; round < MAXIMUM_ROUNDS; round++) {
      const asked = this.#call(search);
      if (asked.answer !== undefined) return asked.answer;
      await Promise.all(asked.needs.map((need) => this.#load(need)));
    }
    throw new SearchError("internal", "The index asks for ever more files. Index the site again.");
  }

  /** Loads a shard or blocks of it, once for all queries that wait for it. A failure is forgotten. */
  #load({ path, blocks }: Need): Promise<void> {
    const wanted = this.#sends_blocks ? blocks : [];
    const key = [path, ...wanted.map(({ page }) => page)].join();
    const { source, bundle, once } = this.#environment;
    const loading = this.#loading.get(key);
    if (loading !== undefined && once === undefined) return loading;
    const loaded = loadShard(source, new URL(path, bundle), wanted, {
      noBlocks: () => {
        this.#sends_blocks = false;
      },
      file: (bytes, inflated) => this.#call(() => this.#search.add_file(path, bytes, inflated)),
      block: (page, bytes, inflated) =>
        this.#call(() => this.#search.add_block(page, bytes, inflated)),
    }).finally(() => this.#loading.delete(key));
    this.#loading.set(key, loaded);
    return loaded;
  }

  async #encode(text: string): Promise<EncodedQuery> {
    if (this.#encoder === undefined) this.#refuseUnanswerable(text);
    const encoder = await this.#network();
    return this.#call(() => encoder.encode(text));
  }

  /** Throws `query` for a text that no mode answers, before the network is fetched for it. */
  #refuseUnanswerable(text: string): void {
    this.#call(() => this.#search.search({ text, mode: "words", first: 0, limit: 1, sections: 0 }));
  }

  async #loadEncoder(): Promise<QueryEncoder> {
    const environment = this.#environment;
    const folder = new URL(ENCODER_FOLDER, environment.bundle);
    const [module, [encoder_json, files]] = await Promise.all([
      loadModule(environment, environment.modules.encoder),
      loadNetwork(environment, folder, this.#manifest.encoder_id),
    ]);
    const [tokenizer_json, model_onnx] = files as [Uint8Array, Uint8Array];
    const open = ({ QueryEncoder }: EncoderModule) =>
      this.#call(() => {
        this.#encoder = new QueryEncoder(encoder_json, tokenizer_json, model_onnx);
        return this.#encoder;
      });
    try {
      return open(module);
    } catch (error) {
      if (asSearchError(error).code !== "unsupported") throw error;
    }
    return open(await loadModule(environment, environment.modules.tract));
  }

  #call<T>(call: () => T): T {
    if (this.#failure !== undefined) throw this.#failure;
    try {
      return fromWasm(call);
    } catch (error) {
      if (asSearchError(error).code === "internal") this.#failure = asSearchError(error);
      throw error;
    }
  }
}

/** Calls into wasm. What it throws without a type is a trap, `internal`: the instance's memory may
 * be half changed, and it must not be called again. */
function fromWasm<T>(call: () => T): T {
  try {
    return call();
  } catch (thrown) {
    throw asSearchError(thrown);
  }
}

function replacedError(): SearchError {
  return new SearchError("closed", "The site has been indexed again since; open the search again.");
}

async function loadManifest({ source, bundle }: Environment): Promise<Manifest> {
  const url = new URL(MANIFEST_NAME, bundle);
  return parseManifest(await loadText(source, url), url);
}

async function loadModule<T>({ source, runtime }: Environment, module: Startable<T>): Promise<T> {
  if (typeof WebAssembly === "undefined") {
    throw new SearchError(
      "unsupported",
      "This browser cannot run WebAssembly, which search needs.",
    );
  }
  if ("code" in module) return module.start(module.code);
  const load = (file: FileEntry) => loadFile(source, runtime, file, () => {});
  // The glue is fetched so that it is checked and kept offline; `start` finds it in the cache.
  const [bytes] = await Promise.all([load(module.file), module.glue && load(module.glue)]);
  try {
    return await module.start(await WebAssembly.compile(bytes));
  } catch (error) {
    throw new SearchError("unsupported", `This browser refused to run ${module.file.path}.`, {
      cause: error,
    });
  }
}

/** The bytes of `encoder.json` and of the files that it names, in their order. */
async function loadNetwork(
  environment: Environment,
  folder: URL,
  encoder_id: string,
): Promise<[Uint8Array, Uint8Array[]]> {
  const file = { path: ENCODER_MANIFEST_NAME, sha256: encoder_id };
  const encoder_json = await loadFile(environment.source, folder, file, () => {});
  const files = parseEncoderManifest(encoder_json, new URL(file.path, folder));
  return [encoder_json, await loadFiles(environment, folder, files)];
}

/** The bytes of `files`, in their order, fetched side by side. */
function loadFiles(
  environment: Environment,
  folder: URL,
  files: SizedFile[],
): Promise<Uint8Array[]> {
  const total_bytes = sum(files.map((file) => file.bytes));
  const received: number[] = files.map(() => 0);
  const load = (file: SizedFile, index: number) =>
    loadFile(environment.source, folder, file, (received_bytes) => {
      received[index] = received_bytes;
      environment.report({ loaded_bytes: sum(received), total_bytes });
    });
  return Promise.all(files.map(load));
}

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
