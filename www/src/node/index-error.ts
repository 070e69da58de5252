/** What went wrong while indexing, for programs; the message says it for people.
 *
 * - `failed`: the command could not do it; the message is its own.
 * - `options`: an option or a file's name is not valid; nothing was run.
 * - `unsupported`: there is no command for this platform, it cannot be started, or is of another version.
 * - `aborted`: the caller's `AbortSignal` fired.
 */
export type IndexErrorCode = "failed" | "options" | "unsupported" | "aborted";

/** The error that `index` throws. */
export class IndexError extends Error {
  /** The kind of failure; see {@link IndexErrorCode}. */
  readonly code: IndexErrorCode;

  constructor(code: IndexErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "IndexError";
    this.code = code;
  }
}
