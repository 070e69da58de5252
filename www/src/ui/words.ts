import type { SearchError } from "../errors.js";

/** Query text as it is repeated to the reader: long ones are cut. */
function quoted(query: string): string {
  return query.length > 80 ? `“${query.slice(0, 80)}…”` : `“${query}”`;
}

export function resultCount(count: number, query: string): string {
  return `${count} ${count === 1 ? "result" : "results"} for ${quoted(query)}`;
}

export function noResults(query: string, suggestions: string[]): string {
  const near = suggestions.slice(0, 3).map(quoted).join(", ");
  const hint = near === "" ? "Try other or fewer words." : `Did you mean ${near}?`;
  return `No results for ${quoted(query)}. ${hint}`;
}

export function loading(): string {
  return "Loading search…";
}

export function loadingNetwork(percent: number): string {
  return `Loading the language network… ${percent} %`;
}

/** What went wrong, for a reader who knows nothing of files and checksums. */
export function failure(error: SearchError): string {
  switch (error.code) {
    case "network":
      return "Search could not be loaded. Check your connection.";
    case "corrupt":
    case "version":
      return "Search is not working: its files on this site are damaged or out of date.";
    case "unsupported":
    case "query":
      return error.message.charAt(0).toUpperCase() + error.message.slice(1);
    default:
      return "Search stopped because of an error.";
  }
}
