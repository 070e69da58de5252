import { defineElement } from "./ui/element.js";

export type {
  Answer,
  Failure,
  Match,
  Mode,
  OpenOptions,
  Progress,
  QueryOptions,
  Result,
  Search,
  Section,
} from "./api.js";
export { open } from "./open.js";
export { SearchError, type SearchErrorCode } from "./search-error.js";
export { SiskinSearch } from "./ui/element.js";

defineElement();
