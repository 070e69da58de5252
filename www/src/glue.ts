import { addressOf, type FileEntry } from "./load.js";
import type { EncoderModule, Modules, Startable } from "./modules.js";
import { searchModule } from "./search-module.js";

/** Set by `scripts/build.js` from the files themselves. */
declare const SISKIN_ENCODER_WASM: FileEntry;
declare const SISKIN_ENCODER_GLUE: FileEntry;
declare const SISKIN_TRACT_WASM: FileEntry;
declare const SISKIN_TRACT_GLUE: FileEntry;

/** The wasm modules that this build of the package belongs to.
 *
 * Each lives once per instance of this JavaScript module: after a trap, import it anew. */
export const modules: Modules = {
  search: searchModule,
  encoder: later(SISKIN_ENCODER_WASM, SISKIN_ENCODER_GLUE),
  tract: later(SISKIN_TRACT_WASM, SISKIN_TRACT_GLUE),
};

/** A module whose glue is a script of its own: few readers ask for the network. */
function later(file: FileEntry, glue: FileEntry): Startable<EncoderModule> {
  return {
    file,
    glue,
    async start(code): Promise<EncoderModule> {
      const own = new URL(import.meta.url);
      const url = addressOf(glue, new URL(".", own));
      const instance = own.searchParams.get("instance");
      if (instance !== null) url.searchParams.set("instance", instance);
      const { default: initialise, ...module } = await import(url.href);
      await initialise({ module_or_path: code });
      return module as EncoderModule;
    },
  };
}
