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
