import initialiseEncoder, * as encoder from "siskin-wasm/encoder";
import initialiseTract, * as tract from "siskin-wasm/tract";
import type { FileEntry } from "../load.js";
import type { EncoderModule, Modules } from "../modules.js";
import { searchModule } from "../search-module.js";

/** Set by `scripts/build.js` from the wasm files themselves. */
declare const SISKIN_ENCODER_WASM: FileEntry;
declare const SISKIN_TRACT_WASM: FileEntry;

/** The wasm modules that this build of the package belongs to, with the glue of all: nothing is fetched.
 *
 * Each lives once per instance of this JavaScript module: after a trap, import it anew. */
export const modules: Modules = {
  search: searchModule,
  encoder: {
    file: SISKIN_ENCODER_WASM,
    async start(code): Promise<EncoderModule> {
      await initialiseEncoder({ module_or_path: code });
      return encoder;
    },
  },
  tract: {
    file: SISKIN_TRACT_WASM,
    async start(code): Promise<EncoderModule> {
      await initialiseTract({ module_or_path: code });
      return tract;
    },
  },
};
