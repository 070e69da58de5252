import { SearchError, type SearchErrorCode } from "./search-error.js";

export { SearchError, type SearchErrorCode } from "./search-error.js";

const CODES: readonly string[] = [
  "network",
  "late",
  "corrupt",
  "version",
  "unsupported",
  "aborted",
  "closed",
  "query",
  "internal",
] satisfies SearchErrorCode[];

/** What has a `code` and a `message`, as the wasm modules throw, as an error; otherwise
 * undefined. */
export function typedError(thrown: unknown): SearchError | undefined {
  if (thrown instanceof SearchError) return thrown;
  if (typeof thrown !== "object" || thrown === null) return undefined;
  const { code, message } = thrown as { code?: unknown; message?: unknown };
  if (typeof code !== "string" || typeof message !== "string" || !CODES.includes(code)) {
    return undefined;
  }
  return new SearchError(code as SearchErrorCode, message);
}

/** Any thrown value as a {@link SearchError}; what is not typed is `internal`. For what may be a module's. */
export function asSearchError(thrown: unknown): SearchError {
  return typedError(thrown) ?? knownError(thrown);
}

/** The same on the page, which sees no errors of modules. */
export function knownError(thrown: unknown): SearchError {
  if (thrown instanceof SearchError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new SearchError("internal", `Siskin stopped: ${message}`, { cause: thrown });
}

/** What `promise` gives, unless `signal` fires first. */
export function unlessAborted<T>(promise: Promise<T>, signal?: AbortSignal): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const abort = () => reject(abortedError(signal));
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort);
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

/** The error of a call whose signal has fired. */
export function abortedError(signal?: AbortSignal): SearchError {
  return new SearchError("aborted", "The search was aborted.", { cause: signal?.reason });
}
