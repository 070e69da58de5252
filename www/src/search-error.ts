/** What went wrong, for programs; the message says it for people.
 *
 * - `network`: a file could not be fetched (no connection, HTTP status, missing file).
 * - `late`: of several bundles this one has not answered, long after another did; it is asked again.
 * - `corrupt`: a file arrived, twice, with bytes that its checksum refuses.
 * - `version`: the bundle was written for another version of this code.
 * - `unsupported`: this browser or this bundle lacks what was asked for.
 * - `aborted`: the caller's `AbortSignal` fired.
 * - `closed`: the search was closed before, or its index has been replaced by a newer one.
 * - `query`: the query or its options are not valid.
 * - `internal`: a defect in Siskin; the instance is closed and has to be opened again.
 */
export type SearchErrorCode =
  | "network"
  | "late"
  | "corrupt"
  | "version"
  | "unsupported"
  | "aborted"
  | "closed"
  | "query"
  | "internal";

/** The one error that this package throws. */
export class SearchError extends Error {
  /** The kind of failure; see {@link SearchErrorCode}. */
  readonly code: SearchErrorCode;

  constructor(code: SearchErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "SearchError";
    this.code = code;
  }
}
