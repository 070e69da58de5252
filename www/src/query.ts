import { DEFAULT_LIMIT, MAXIMUM_LIMIT, MAXIMUM_SECTIONS, MODES, type QueryOptions } from "./api.js";
import type { CheckedQuery } from "./engine.js";
import { SearchError } from "./errors.js";

/** No site has more pages; what is larger would not cross into wasm. */
const MAXIMUM_FIRST = 2 ** 31;

/** Checks a query's options; throws `query`. */
export function checkQuery(text: string, options: QueryOptions): CheckedQuery {
  const { limit = DEFAULT_LIMIT, first = 0, sections = 0, mode = "table" } = options;
  if (typeof text !== "string") throw new SearchError("query", "The query must be a string.");
  if (!MODES.includes(mode)) {
    throw new SearchError("query", `Unknown mode \`${mode}\`; use words, table or full.`);
  }
  checkWhole("limit", limit, 1, MAXIMUM_LIMIT);
  checkWhole("first", first, 0, MAXIMUM_FIRST);
  checkWhole("sections", sections, 0, MAXIMUM_SECTIONS);
  return { text, mode, first, limit, sections };
}

function checkWhole(name: string, value: number, least: number, most: number): void {
  if (Number.isInteger(value) && value >= least && value <= most) return;
  throw new SearchError(
    "query",
    `${name} is ${value}; use a whole number from ${least} to ${most}.`,
  );
}
