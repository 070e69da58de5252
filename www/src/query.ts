import { DEFAULT_LIMIT, MAXIMUM_LIMIT, MODES, type QueryOptions } from "./api.js";
import type { CheckedQuery } from "./engine.js";
import { SearchError } from "./errors.js";

/** Checks a query's options; throws `query`. */
export function checkQuery(text: string, options: QueryOptions): CheckedQuery {
  const { limit = DEFAULT_LIMIT, mode = "table" } = options;
  if (typeof text !== "string") throw new SearchError("query", "The query must be a string.");
  if (!MODES.includes(mode)) {
    throw new SearchError("query", `Unknown mode \`${mode}\`; use words, table or full.`);
  }
  if (!Number.isInteger(limit) || limit < 1 || limit > MAXIMUM_LIMIT) {
    throw new SearchError("query", `limit is ${limit}; use a whole number from 1 to 100.`);
  }
  return { text, mode, limit };
}
