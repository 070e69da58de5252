import type { Answer } from "./api.js";
import type { FileEntry } from "./load.js";
import type { CheckedQuery } from "./query.js";

/** A query as the network reads it; made by `QueryEncoder.encode`, read by `search`. */
export type EncodedQuery = [buckets: [dimension: number, activation: number][][], dense: number[]];

/** A run of pages of a shard of records: bytes `start` to `end` of the file. */
export interface Block {
  page: number;
  start: number;
  end: number;
}

/** A file to add, or only those blocks of it, where there are any. */
export interface Need {
  path: string;
  blocks: Block[];
}

/** An answer as the engine gives it. */
export type Found = Pick<Answer, "total" | "results" | "suggestions" | "facets">;

/** What asking gives: what to add before asking again, or the answer. */
export type Asked = { needs: Need[]; answer?: undefined } | { needs: []; answer: Found };

/** `SearchEngine` of `web/search`: a bundle, as far as its files are there. */
export interface SearchEngine {
  files(): string[];
  add_file(path: string, bytes: Uint8Array, inflated?: Uint8Array): void;
  add_block(page: number, bytes: Uint8Array, inflated: Uint8Array): void;
  search(query: CheckedQuery, encoded?: EncodedQuery): Asked;
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

/** A wasm module of the network. */
export interface EncoderModule {
  QueryEncoder: new (
    encoder_json: Uint8Array,
    tokenizer_json: Uint8Array,
    model_onnx: Uint8Array,
  ) => QueryEncoder;
}

/** Glue that wasm-bindgen writes: starts the module from compiled code. */
export type Initialise = (options: { module_or_path: WebAssembly.Module }) => Promise<unknown>;

/** A wasm module: which file it is, or its code where that is compiled already, and how it is started. */
export type Startable<T> = (Fetched | { code: WebAssembly.Module }) & {
  start(code: WebAssembly.Module): Promise<T>;
};

interface Fetched {
  file: FileEntry;
  /** Its glue, where that is a script of its own. */
  glue?: FileEntry;
}

/** The wasm modules. */
export interface Modules {
  search: Startable<SearchModule>;
  /** The lean engine, for the family of networks that Siskin's own is of. */
  encoder: Startable<EncoderModule>;
  /** tract, for what `encoder` refuses as `unsupported`; a bundle has it only then. */
  tract: Startable<EncoderModule>;
}
