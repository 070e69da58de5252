export { type BoxOptions, boxAttributes, scriptAddress } from "./options.js";

/** Indexes the built site in `folder` and returns a line about it; what is wrong with single pages is
 * given to `warn`. Rejects with Siskin's `IndexError`. */
export function indexSite(folder: string, warn: (text: string) => void): Promise<string>;
