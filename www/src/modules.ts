import type { FileEntry } from "./load.js";

/** A query as the network reads it; made by `QueryEncoder.encode`, read by `search_encoded`. */
export interface EncodedQuery {
  /** Per bucket of the encoder, in its order. */
  buckets: { dimensions: Uint32Array; activations: Float32Array }[];
  /** The query's vector, the mean of queries taken off. */
  dense: Float32Array;
}

/** `SearchEngine` of `web/search`. */
export interface SearchEngine {
  add_file(name: string, bytes: Uint8Array): void;
  search(text: string, mode: string, limit: number): unknown;
  search_encoded(text: string, encoded: EncodedQuery, limit: number): unknown;
  free(): void;
}

/** The small wasm module: words and table. */
export interface SearchModule {
  SearchEngine: new (manifest_json: string) => SearchEngine;
}

/** `QueryEncoder` of `web/encoder`. */
export interface QueryEncoder {
  encode(text: string): EncodedQuery;
  free(): void;
}

/** The wasm module of the network. */
export interface EncoderModule {
  QueryEncoder: new (
    encoder_json: Uint8Array,
    tokenizer_json: Uint8Array,
    model_onnx: Uint8Array,
  ) => QueryEncoder;
}

/** Glue that wasm-bindgen writes: starts the module from compiled code. */
export type Initialise = (options: { module_or_path: WebAssembly.Module }) => Promise<unknown>;

/** The two wasm modules: which file each is, and how it is started once that file is compiled. */
export interface Modules {
  search: { file: FileEntry; start(code: WebAssembly.Module): Promise<SearchModule> };
  encoder: { file: FileEntry; start(code: WebAssembly.Module): Promise<EncoderModule> };
}
