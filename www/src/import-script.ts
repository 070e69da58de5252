import { SearchError } from "./search-error.js";

let failed_count = 0;

/** Imports a script. Browsers remember that an address failed: after a failure it is another one.
 * Throws `network`. */
export async function importScript(script: URL): Promise<unknown> {
  const url = new URL(script);
  if (failed_count > 0) url.searchParams.set("retry", `${failed_count}`);
  try {
    // Bundlers leave it as it is: the address is known only where the script runs.
    return await import(/* webpackIgnore: true */ /* @vite-ignore */ url.href);
  } catch (cause) {
    failed_count += 1;
    throw new SearchError("network", `${url.href} could not be loaded. Check your connection.`, {
      cause,
    });
  }
}
