import initialise, * as search from "siskin-wasm/search";
import type { FileEntry } from "./load.js";
import type { SearchModule, Startable } from "./modules.js";

/** Set by `scripts/build.js` from the file itself. */
declare const SISKIN_SEARCH_WASM: FileEntry;

/** The small wasm module: words and table. */
export const searchModule: Startable<SearchModule> = {
  file: SISKIN_SEARCH_WASM,
  async start(code): Promise<SearchModule> {
    await initialise({ module_or_path: code });
    return search;
  },
};
