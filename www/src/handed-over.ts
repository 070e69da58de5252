import type { Shared } from "./shared.js";

/** Stands in siskin-box.js for the modules of `shared.ts`, by `scripts/build.js`. */
export let element: Shared["element"];
export let folderUrl: Shared["folderUrl"];
export let importScript: Shared["importScript"];
export let open: Shared["open"];
export let RUNTIME: Shared["RUNTIME"];
export let SCRIPT: Shared["SCRIPT"];
export let SearchError: Shared["SearchError"];
export let scriptUrl: Shared["scriptUrl"];

/** Must be called before anything else in siskin-box.js. */
export function takeOver(shared: Shared): void {
  ({ element, folderUrl, importScript, open, RUNTIME, SCRIPT, SearchError, scriptUrl } = shared);
}
