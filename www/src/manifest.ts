import { SearchError } from "./errors.js";
import type { FileEntry } from "./load.js";

/** Name of the one file of a bundle that is not addressed by its content. */
export const MANIFEST_NAME = "siskin.json";

/** Folder of the network's files within a bundle. */
export const ENCODER_FOLDER = "encoder/";

/** The network's own table of contents. */
export const ENCODER_MANIFEST_NAME = "encoder.json";

/** Files of the network that a query needs. */
export const ENCODER_FILES = ["tokenizer.json", "model.onnx"] as const;

/** A file of which the manifest tells the length. */
export type SizedFile = FileEntry & { bytes: number };

/** The part of `siskin.json` that the loader needs; the wasm module reads the whole. */
export interface Manifest {
  /** The text as it arrived. */
  json: string;
  /** Checksum of the `encoder.json` of the network that reads queries. */
  encoder_id: string;
}

/** Reads the network's checksum from the text of `siskin.json`.
 *
 * Throws `corrupt` when it is not a manifest. Versions are checked by the wasm module. */
export function parseManifest(json: string, url: URL): Manifest {
  const { encoder } = parseObject(json, url);
  const { id, query_id = id } = (encoder ?? {}) as { id?: unknown; query_id?: unknown };
  if (typeof id !== "string" || typeof query_id !== "string") throw notManifest(url);
  return { json, encoder_id: query_id };
}

/** Reads from the bytes of `encoder.json` what its files must be, in the order of
 * {@link ENCODER_FILES}. Throws `corrupt`. */
export function parseEncoderManifest(bytes: Uint8Array, url: URL): SizedFile[] {
  const { files } = parseObject(new TextDecoder().decode(bytes), url);
  const known = (files ?? {}) as Record<string, object>;
  return ENCODER_FILES.map((path) => {
    const file = { ...known[path], path };
    if (!isFile(file)) throw notManifest(url);
    return file;
  });
}

function parseObject(json: string, url: URL): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  } catch (error) {
    throw notManifest(url, error);
  }
  throw notManifest(url);
}

/** Paths stay below their folder: no scheme, no leading slash, no `..`. */
function isFile(value: unknown): value is SizedFile {
  const { path, bytes, sha256 } = (value ?? {}) as Record<string, unknown>;
  return (
    typeof path === "string" &&
    /^[\w-][\w.-]*(\/[\w-][\w.-]*)*$/.test(path) &&
    Number.isSafeInteger(bytes) &&
    typeof sha256 === "string"
  );
}

function notManifest(url: URL, cause?: unknown): SearchError {
  return new SearchError(
    "corrupt",
    `${url.href} is not what \`siskin index\` writes. Run it and copy its whole folder.`,
    { cause },
  );
}
