/** What wasm-bindgen writes; `scripts/build.js` tells esbuild where it lies. */
declare module "siskin-wasm/search" {
  export const SearchEngine: import("./modules.js").SearchModule["SearchEngine"];
  const initialise: import("./modules.js").Initialise;
  export default initialise;
}

declare module "siskin-wasm/tract" {
  export const QueryEncoder: import("./modules.js").EncoderModule["QueryEncoder"];
  const initialise: import("./modules.js").Initialise;
  export default initialise;
}

declare module "siskin-wasm/encoder" {
  export const QueryEncoder: import("./modules.js").EncoderModule["QueryEncoder"];
  const initialise: import("./modules.js").Initialise;
  export default initialise;
}

declare module "siskin-wasm/search/code" {
  const code: WebAssembly.Module;
  export default code;
}

declare module "siskin-wasm/encoder/code" {
  const code: WebAssembly.Module;
  export default code;
}

/** A function that gives the glue anew, with an instance of its own. */
declare module "siskin-wasm/search/new" {
  const newGlue: () => typeof import("siskin-wasm/search");
  export default newGlue;
}

declare module "siskin-wasm/encoder/new" {
  const newGlue: () => typeof import("siskin-wasm/encoder");
  export default newGlue;
}
