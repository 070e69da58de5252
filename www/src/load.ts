import { abortedError, SearchError, typedError } from "./errors.js";
import type { Block } from "./modules.js";

/** Anything with the shape of `fetch`: the browser's, a folder's or a test's. */
export type Fetcher = (
  url: URL,
  init: { cache: RequestCache; signal?: AbortSignal; headers?: Record<string, string> },
) => Promise<Response>;

/** A file whose content is known beforehand. */
export interface FileEntry {
  /** Path relative to its folder. */
  path: string;
  /** Exact length; absent where only the checksum is known. */
  bytes?: number;
  /** Checksum, 64 lower-case hexadecimal digits. */
  sha256: string;
}

/** Told how many bytes of a file have arrived; starts again from 0 when a download is repeated. */
export type Report = (received_bytes: number) => void;

/** Where files come from. */
export interface Source {
  fetcher: Fetcher;
  signal?: AbortSignal;
}

/** The text of a small file that may change under the same name: never taken from a cache unasked.
 *
 * Tried twice. Throws `network`. */
export function loadText(source: Source, url: URL): Promise<string> {
  return twice(async () => {
    const response = await request(source, url, "no-cache");
    return new TextDecoder().decode(await body(response, url, () => {}));
  });
}

/** The bytes of a file whose checksum is known.
 *
 * Tried twice, the second time past every cache. Throws `network`, or `corrupt` when the bytes are
 * wrong both times. */
export function loadFile(
  source: Source,
  folder: URL,
  file: FileEntry,
  report: Report,
): Promise<Uint8Array<ArrayBuffer>> {
  const url = addressOf(file, folder);
  return twice(async (attempt) => {
    const response = await request(source, url, attempt === 0 ? "default" : "reload");
    const bytes = await body(response, url, report, file.bytes);
    await verify(bytes, file, url);
    return bytes;
  });
}

/** The bytes at an address, whatever they are. Tried twice. Throws `network`. */
export function loadBytes(source: Source, url: URL): Promise<Uint8Array<ArrayBuffer>> {
  return twice(async () => body(await request(source, url, "default"), url, () => {}));
}

/** Bytes of a shard before its payload; the last one tells whether that is deflated. */
const SHARD_HEADER_BYTES = 8;
const DEFLATED = 1;

/** An empty last block: it makes a deflated stream of the bytes of a block of records. */
const END_OF_BLOCK = Uint8Array.of(3, 0);
const PARTIAL_CONTENT = 206;

/** Takes what was loaded, and throws when it is not what it should be. */
export interface Accept {
  /** The server sends whole files where parts are asked for. */
  noBlocks(): void;
  file(bytes: Uint8Array, inflated: Uint8Array | undefined): void;
  block(page: number, bytes: Uint8Array, inflated: Uint8Array): void;
}

/** Loads a shard of the index, or of a shard of records only `blocks`, where there are any and the
 * server can send parts of a file.
 *
 * Tried twice, the second time whole and past every cache. Throws `network`, or what `accept` throws. */
export function loadShard(
  source: Source,
  url: URL,
  blocks: Block[],
  accept: Accept,
): Promise<void> {
  return twice(async (attempt) => {
    if (attempt === 0 && blocks.length > 0) return loadBlocks(source, url, blocks, accept);
    const response = await request(source, url, attempt === 0 ? "default" : "reload");
    return acceptFile(await body(response, url, () => {}), accept);
  });
}

/** Loads blocks, those that are neighbours in one request. The first whole file that the server
 * sends instead is taken, others are not waited for. */
async function loadBlocks(
  source: Source,
  url: URL,
  blocks: Block[],
  accept: Accept,
): Promise<void> {
  let whole: Promise<void> | undefined;
  const load = async (run: Block[], start: number, end: number): Promise<void> => {
    const range = `bytes=${start}-${end - 1}`;
    const response = await request(source, url, "default", { range });
    if (response.status !== PARTIAL_CONTENT) {
      accept.noBlocks();
      if (whole !== undefined) await response.body?.cancel();
      whole ??= body(response, url, () => {}).then((bytes) => acceptFile(bytes, accept));
      return whole;
    }
    const bytes = await body(response, url, () => {});
    for (const block of run) {
      const part = bytes.subarray(block.start - start, block.end - start);
      accept.block(block.page, part, await inflate(part, END_OF_BLOCK));
    }
  };
  const loads = neighbours(blocks).map((run) =>
    load(run, run[0]?.start ?? 0, run.at(-1)?.end ?? 0),
  );
  await Promise.all(loads);
}

/** Blocks in runs without a gap. */
function neighbours(blocks: Block[]): Block[][] {
  const runs: Block[][] = [];
  for (const block of [...blocks].sort((a, b) => a.start - b.start)) {
    const run = runs.at(-1);
    if (run?.at(-1)?.end === block.start) run.push(block);
    else runs.push([block]);
  }
  return runs;
}

async function acceptFile(bytes: Uint8Array<ArrayBuffer>, accept: Accept): Promise<void> {
  const deflated = bytes[SHARD_HEADER_BYTES - 1] === DEFLATED;
  const inflated = deflated ? await inflate(bytes.subarray(SHARD_HEADER_BYTES)) : undefined;
  accept.file(bytes, inflated);
}

/** Inflates raw DEFLATE; gives nothing when that cannot be done. */
async function inflate(...deflated: Uint8Array<ArrayBuffer>[]): Promise<Uint8Array> {
  const inflated = new Blob(deflated).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  try {
    return new Uint8Array(await new Response(inflated).arrayBuffer());
  } catch {
    return new Uint8Array();
  }
}

/** Digits of the checksum that make an address unmistakable. */
const VERSION_DIGITS = 10;

/** A file's address with a part of its checksum, so that no cache gives one version for another;
 * most names hold it already. */
export function addressOf({ path, sha256 }: FileEntry, folder: URL): URL {
  const url = new URL(path, folder);
  const version = sha256.slice(0, VERSION_DIGITS);
  if (!path.includes(version)) url.searchParams.set("v", version);
  return url;
}

async function twice<T>(load: (attempt: number) => Promise<T>): Promise<T> {
  try {
    return await load(0);
  } catch (error) {
    if (typedError(error)?.code === "aborted") throw error;
    return await load(1);
  }
}

async function request(
  source: Source,
  url: URL,
  cache: RequestCache,
  headers?: Record<string, string>,
): Promise<Response> {
  const { fetcher, signal } = source;
  const init = { cache, ...(signal && { signal }), ...(headers && { headers }) };
  const response = await ended(source, url, () => fetcher(url, init));
  if (!response.ok) {
    throw new SearchError(
      "network",
      `Could not load ${url.href}: the server answered ${response.status}. Try again later.`,
    );
  }
  return response;
}

async function ended<T>(source: Source, url: URL, load: () => Promise<T>): Promise<T> {
  if (source.signal?.aborted) throw abortedError(source.signal);
  try {
    return await load();
  } catch (error) {
    if (source.signal?.aborted) throw abortedError(source.signal);
    throw unreachable(url, error);
  }
}

function unreachable(url: URL, cause: unknown): SearchError {
  return new SearchError(
    "network",
    `Could not load ${url.href}. Check the connection and try again.`,
    { cause },
  );
}

async function body(
  response: Response,
  url: URL,
  report: Report,
  expected_bytes?: number,
): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return await collect(response, report, expected_bytes);
  } catch (error) {
    throw unreachable(url, error);
  }
}

/** Into one buffer, of the right size from the start where that is known: the network's chunks beside their sum would take
 * its size twice. */
async function collect(
  response: Response,
  report: Report,
  expected_bytes = 0,
): Promise<Uint8Array<ArrayBuffer>> {
  let bytes = new Uint8Array(expected_bytes);
  const reader = response.body?.getReader();
  let received_bytes = 0;
  for (;;) {
    report(received_bytes);
    const next = await reader?.read();
    if (next === undefined || next.done) return bytes.subarray(0, received_bytes);
    const needed_bytes = received_bytes + next.value.length;
    if (needed_bytes > bytes.length) {
      const larger = new Uint8Array(Math.max(needed_bytes, 2 * bytes.length));
      larger.set(bytes.subarray(0, received_bytes));
      bytes = larger;
    }
    bytes.set(next.value, received_bytes);
    received_bytes = needed_bytes;
  }
}

async function verify(bytes: Uint8Array<ArrayBuffer>, file: FileEntry, url: URL): Promise<void> {
  if (file.bytes !== undefined && bytes.length !== file.bytes) {
    throw new SearchError(
      "corrupt",
      `${url.href} is ${bytes.length} bytes long, expected ${file.bytes}. Copy the bundle again.`,
    );
  }
  const digest = await sha256(bytes);
  if (digest !== undefined && digest !== file.sha256) {
    throw new SearchError(
      "corrupt",
      `${url.href} has checksum ${digest}, expected ${file.sha256}. Copy the bundle again.`,
    );
  }
}

/** Undefined where the platform has no digest (plain HTTP): the files' own checksums still hold. */
async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string | undefined> {
  const subtle = globalThis.crypto?.subtle;
  if (subtle === undefined) return undefined;
  const digest = new Uint8Array(await subtle.digest("SHA-256", bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
