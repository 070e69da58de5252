import {
  type Condition,
  DEFAULT_LIMIT,
  MAXIMUM_LIMIT,
  MAXIMUM_NESTED,
  MAXIMUM_SECTIONS,
  MODES,
  type Mode,
  type QueryOptions,
  type Sort,
} from "./api.js";
import { SearchError } from "./errors.js";

/** A query whose options have been checked; the small wasm module reads it as it is. */
export interface CheckedQuery {
  text: string;
  mode: Mode;
  first: number;
  limit: number;
  sections: number;
  filter?: Condition;
  sort?: Required<Sort>;
  language?: string;
  facets?: true;
}

/** No site has more pages; what is larger would not cross into wasm. */
const MAXIMUM_FIRST = 2 ** 31;

const ORDERS = ["ascending", "descending"];

/** Checks a query's options; throws `query`. */
export function checkQuery(text: string, options: QueryOptions): CheckedQuery {
  const { limit = DEFAULT_LIMIT, first = 0, sections = 0, mode = "table" } = options;
  const { filter, sort, language, facets } = options;
  if (typeof text !== "string") throw new SearchError("query", "The query must be a string.");
  if (!MODES.includes(mode)) {
    throw new SearchError("query", `Unknown mode \`${mode}\`; use words, table or full.`);
  }
  checkWhole("limit", limit, 1, MAXIMUM_LIMIT);
  checkWhole("first", first, 0, MAXIMUM_FIRST);
  checkWhole("sections", sections, 0, MAXIMUM_SECTIONS);
  if (language !== undefined && typeof language !== "string") {
    throw new SearchError("query", "language must be a tag such as `de`.");
  }
  return {
    text,
    mode,
    first,
    limit,
    sections,
    ...(filter !== undefined && { filter: checkedCondition(filter, MAXIMUM_NESTED) }),
    ...(sort && { sort: checkedSort(sort) }),
    ...(language && { language }),
    ...(facets && { facets }),
  };
}

/** Whether a query asks for nothing but a list of pages: no network reads it. */
export function isList({ text, filter, sort }: CheckedQuery): boolean {
  return text.trim() === "" && (filter !== undefined || sort !== undefined);
}

function checkWhole(name: string, value: number, least: number, most: number): void {
  if (Number.isInteger(value) && value >= least && value <= most) return;
  throw new SearchError(
    "query",
    `${name} is ${value}; use a whole number from ${least} to ${most}.`,
  );
}

/** A plain copy of conditions nested at most `depth` deep, each in one of the forms and in no other beside it. */
function checkedCondition(condition: unknown, depth: number): Condition {
  const { filter, value, all, any, none } = Object(condition) as Record<string, unknown>;
  const given = Object.entries({ filter, all, any, none }).filter(([, part]) => part !== undefined);
  const [[form, parts] = []] = given;
  if (given.length === 1 && typeof filter === "string" && typeof value === "string") {
    return { filter, value };
  }
  if (given.length === 1 && value === undefined && Array.isArray(parts) && depth > 0) {
    return {
      [form as string]: parts.map((part) => checkedCondition(part, depth - 1)),
    } as Condition;
  }
  throw new SearchError(
    "query",
    `filter has to be made of {filter, value}, {all: […]}, {any: […]} and {none: […]}, one in each object, at most ${MAXIMUM_NESTED} deep.`,
  );
}

function checkedSort({ key, order = "ascending" }: Sort): Required<Sort> {
  if (typeof key === "string" && ORDERS.includes(order)) return { key, order };
  throw new SearchError("query", "sort has to be {key, order}, order ascending or descending.");
}
