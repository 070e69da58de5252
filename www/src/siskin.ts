import { defineElement } from "./ui/element.js";

export type {
  Answer,
  Match,
  Mode,
  OpenOptions,
  Progress,
  QueryOptions,
  Result,
  Search,
} from "./api.js";
export { SearchError, type SearchErrorCode } from "./errors.js";
export { open } from "./open.js";
export { SiskinSearch } from "./ui/element.js";

defineElement();
