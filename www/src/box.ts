/** siskin-box.js: all that is fetched only once somebody searches. */
export { takeOver } from "./handed-over.js";
export { openAll } from "./open-all.js";
export { SearchBox } from "./ui/box.js";
