import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { findCommand } from "./command.js";
import { IndexError } from "./index-error.js";
import { type SourceFile, writeFiles } from "./source-files.js";

export type { SourceFile } from "./source-files.js";

/** Options of {@link index}: those of `siskin index`. Paths are relative to the current folder; what is
 * left out is as `siskin.toml` there says, or as the command's help does. */
export interface IndexOptions {
  /** Folder to write; the one above it must exist. Default: `siskin` in the site's folder; files have
   * no folder, so for them it must be given. */
  output?: string;
  /** Folder of the encoder. Default: the one that came with the package. */
  encoder?: string;
  /** Folder of the encoder that pages load for mode `full`: one distilled from `encoder`, and smaller. */
  queryEncoder?: string;
  /** Folder of the browser's files, or `false` to write the index alone. Default: those of the package. */
  runtime?: string | false;
  /** Also writes `pagefind/pagefind.js`, which answers in Pagefind's place; needs a site's folder. */
  pagefind?: boolean;
  /** Encodes the first three passages of each page only. */
  lite?: boolean;
  /** Folder of passages encoded by earlier runs, or `false` to keep none. */
  cache?: string | false;
  /** File with options, instead of `siskin.toml`. */
  config?: string;
  /** Ends the indexing; an older index stays as it was. */
  signal?: AbortSignal;
}

/** A file that was left out. */
export interface SkippedFile {
  /** Path in the site. */
  path: string;
  /** Why, for people. */
  reason: string;
  /** Whether a page may be missing for it. */
  problem: boolean;
}

/** Where the codes of the passages came from. */
export interface Codes {
  /** Passages that went through the network. */
  encoded: number;
  /** Passages known from an earlier run, or equal to another one. */
  known: number;
  /** The encoder's folder of passages; `null` where none are kept. */
  cache: string | null;
  /** Bytes of all passages in it, those of other sites too. */
  cache_bytes: number;
}

/** What was written; the fields are those of `siskin index --json`. */
export interface IndexReport {
  /** Folder of the index. */
  output: string;
  pages: number;
  passages: number;
  /** Files that were left out, each with its reason. */
  skipped: SkippedFile[];
  /** Pages in which bytes that mean nothing in their encoding were replaced. */
  bad_bytes: string[];
  /** Bytes of the index itself. */
  index_bytes: number;
  /** Bytes of everything in `output`. */
  total_bytes: number;
  seconds: number;
  codes: Codes;
}

type Files = Iterable<SourceFile> | AsyncIterable<SourceFile>;

/** The command ended with a result: done, or done with problems to look at. */
const DONE: readonly (number | null)[] = [0, 1];

/** Indexes a site that a generator wrote into a folder, or pages that are in no folder yet.
 *
 * Runs the command `siskin index`. The index takes its place whole: a run that fails or is aborted
 * changes nothing. Rejects with an {@link IndexError}, or with what `files` throws. */
export async function index(
  site: string | Files,
  options: IndexOptions = {},
): Promise<IndexReport> {
  refuseAborted(options.signal);
  if (typeof site === "string") return run(site, options);
  refuseForFiles(options);
  const folder = await mkdtemp(join(tmpdir(), "siskin-site-"));
  try {
    await writeFiles(abortable(site, options.signal), folder);
    return await run(folder, options);
  } catch (error) {
    refuseAborted(options.signal);
    throw error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function refuseForFiles({ output, pagefind }: IndexOptions): void {
  if (output === undefined) {
    throw new IndexError("options", "Files have no folder for the index; name it as `output`.");
  }
  if (pagefind) {
    throw new IndexError("options", "`pagefind` needs a site's folder, where its script goes.");
  }
}

function refuseAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) {
    throw new IndexError("aborted", "The indexing was aborted.", { cause: signal.reason });
  }
}

/** The files until the signal fires, even where the next one never comes. */
async function* abortable(files: Files, signal: AbortSignal | undefined) {
  let abort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal?.reason);
  });
  signal?.addEventListener("abort", abort);
  // Once the last file is there nobody waits for it.
  aborted.catch(() => {});
  const iterator = iteratorOf(files);
  let step: IteratorResult<SourceFile> | undefined;
  try {
    for (;;) {
      step = undefined;
      signal?.throwIfAborted();
      step = await Promise.race([iterator.next(), aborted]);
      if (step.done) return;
      yield step.value;
    }
  } finally {
    signal?.removeEventListener("abort", abort);
    // Whoever makes the files may clean up; one that waits for ever is not waited for.
    if (step?.done === false) await iterator.return?.();
  }
}

function iteratorOf(files: Files): Iterator<SourceFile> | AsyncIterator<SourceFile> {
  if (Symbol.asyncIterator in files) return files[Symbol.asyncIterator]();
  return files[Symbol.iterator]();
}

async function run(site: string, options: IndexOptions): Promise<IndexReport> {
  refuseAborted(options.signal);
  const { program, env } = findCommand();
  const args = ["index", "--json", "--quiet", ...argumentsFor(options), "--", site];
  const child = spawn(program, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  const abort = () => child.kill();
  options.signal?.addEventListener("abort", abort);
  const ended = new Promise<number | NodeJS.Signals | null>((resolve, reject) => {
    child.on("error", (cause) => {
      const message = `${program} cannot be run: ${cause.message}`;
      reject(new IndexError("unsupported", message, { cause }));
    });
    child.on("close", (code, signal) => resolve(code ?? signal));
  });
  try {
    const [result, talk, end] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    refuseAborted(options.signal);
    return reportOf(end, result, talk);
  } finally {
    options.signal?.removeEventListener("abort", abort);
  }
}

function argumentsFor(options: IndexOptions): string[] {
  const { output, encoder, queryEncoder, runtime, cache, config } = options;
  const args: string[] = [];
  const named = { output, encoder, "query-encoder": queryEncoder, runtime, cache, config };
  for (const [name, value] of Object.entries(named)) {
    if (value === false) args.push(`--no-${name}`);
    else if (value !== undefined) args.push(`--${name}`, value);
  }
  if (options.pagefind) args.push("--pagefind");
  if (options.lite) args.push("--lite");
  return args;
}

function reportOf(end: number | NodeJS.Signals | null, result: string, talk: string): IndexReport {
  if (typeof end === "number" && DONE.includes(end)) return parsed(result);
  const told = /^error: (.*)/m.exec(talk)?.[1] ?? talk.trim();
  throw new IndexError("failed", told || `siskin index ended with ${end}.`);
}

function parsed(result: string): IndexReport {
  try {
    return JSON.parse(result) as IndexReport;
  } catch (cause) {
    const message = "siskin index gave no report: it is of another version than this package.";
    throw new IndexError("unsupported", message, { cause });
  }
}
