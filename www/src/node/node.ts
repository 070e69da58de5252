import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { OpenOptions, Search } from "../api.js";
import { Engine, type Environment } from "../engine.js";
import { EngineSearch } from "../engine-search.js";
import { asSearchError, type SearchError } from "../errors.js";
import type { Modules } from "../modules.js";

export type {
  Answer,
  Match,
  Mode,
  OpenOptions,
  Progress,
  QueryOptions,
  Result,
  Search,
  Section,
} from "../api.js";
export { SearchError, type SearchErrorCode } from "../errors.js";
export { IndexError, type IndexErrorCode } from "./index-error.js";
export {
  type Codes,
  type IndexOptions,
  type IndexReport,
  index,
  type SkippedFile,
  type SourceFile,
} from "./indexing.js";

/** The browser's files: these of this package serve every bundle of its format, also one without any. */
const RUNTIME = new URL("../dist/", import.meta.url);

/** Opens the bundle in the folder `directory` of the file system, on this thread.
 *
 * `options.worker` and `options.offline` have no effect. Rejects with a `SearchError`. */
export async function open(directory: string, options: OpenOptions = {}): Promise<Search> {
  const bundle = pathToFileURL(`${resolve(directory)}/`);
  const environment: Environment = {
    source: { fetcher: readFromDisk, ...(options.signal && { signal: options.signal }) },
    modules: await freshModules(),
    bundle,
    runtime: RUNTIME,
    now: () => performance.now(),
    report: (progress) => options.onProgress?.(progress),
  };
  try {
    return new EngineSearch(await Engine.open(environment), retired);
  } catch (error) {
    throw retired(error);
  }
}

let trapped_count = 0;

/** Passes `error` on; after a trap the present instance of the wasm modules is left behind. */
function retired(error: unknown): SearchError {
  const typed = asSearchError(error);
  if (typed.code === "internal") trapped_count += 1;
  return typed;
}

/** The wasm modules; after a trap, those of a fresh instance of this script. */
async function freshModules(): Promise<Modules> {
  const address = `./siskin-node-glue.js?instance=${trapped_count}`;
  const glue = (await import(address)) as { modules: Modules };
  return glue.modules;
}

/** `fetch` for files. */
async function readFromDisk(url: URL): Promise<Response> {
  try {
    return new Response(await readFile(fileURLToPath(url)));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") {
      return new Response(null, { status: 404 });
    }
    throw error;
  }
}
