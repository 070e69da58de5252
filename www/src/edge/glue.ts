import encoder_code from "siskin-wasm/encoder/code";
import newEncoder from "siskin-wasm/encoder/new";
import search_code from "siskin-wasm/search/code";
import newSearch from "siskin-wasm/search/new";
import { SearchError } from "../errors.js";
import type { Initialise, Modules, Startable } from "../modules.js";

/** The wasm modules, with instances of their own: what has trapped is left behind.
 *
 * Edge runtimes compile no WebAssembly while they run: its code is imported, compiled, and nothing is
 * fetched. */
export function newModules(): Modules {
  return {
    search: imported(search_code, newSearch),
    encoder: imported(encoder_code, newEncoder),
    // Never started: its code stands for the one that is left out.
    tract: {
      start: () => Promise.reject(new SearchError("unsupported", NO_TRACT)),
      code: encoder_code,
    },
  };
}

const NO_TRACT =
  "At the edge only encoders of the family of Siskin's own are read. Ask in mode table, or index with such an encoder.";

function imported<T>(
  code: WebAssembly.Module,
  newGlue: () => T & { default: Initialise },
): Startable<T> {
  return {
    code,
    async start(): Promise<T> {
      const glue = newGlue();
      await glue.default({ module_or_path: code });
      return glue;
    },
  };
}
