import { importScript } from "./import-script.js";
import { open } from "./open.js";
import { folderUrl, RUNTIME, SCRIPT } from "./places.js";
import { SearchError } from "./search-error.js";
import { scriptUrl } from "./trusted.js";
import { element } from "./ui/nodes.js";

/** What siskin.js has and siskin-box.js uses too. It is handed over, so that it is loaded once and an
 * error is an `instanceof` the page's own `SearchError`. */
export const shared = {
  element,
  folderUrl,
  importScript,
  open,
  RUNTIME,
  SCRIPT,
  SearchError,
  scriptUrl,
};

/** See {@link shared}. */
export type Shared = typeof shared;
