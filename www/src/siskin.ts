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
  Section,
} from "./api.js";
export { SearchError, type SearchErrorCode } from "./errors.js";
export { open } from "./open.js";
export { SiskinSearch } from "./ui/element.js";

defineElement();
