import type { LoadContext, Plugin } from "@docusaurus/types";
import type { BoxOptions } from "@siskin/integration";

/** For Docusaurus's `themes`: `docusaurus build` indexes the site, and the box stands where the classic
 * theme has room for a search. Rejects with an `Error` where an option is not valid. */
declare function siskin(
  context: LoadContext,
  options: BoxOptions & { id?: string },
): Promise<Plugin>;
export = siskin;
