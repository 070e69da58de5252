/** siskin-box.js: all that is fetched only once somebody searches. */
export { takeOver } from "./handed-over.js";
export { openOn } from "./remote.js";
export { SearchBox } from "./ui/box.js";
