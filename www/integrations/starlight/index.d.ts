import type { StarlightPlugin } from "@astrojs/starlight/types";
import type { BoxOptions } from "@siskin/integration";
import type { AstroIntegration } from "astro";

/** For Starlight's `plugins`: `astro build` indexes the site, and the box stands where Starlight has its
 * own. Throws an `Error` where an option is not valid. */
export default function siskinStarlight(options?: BoxOptions): StarlightPlugin;

/** For Astro's `integrations`, where there is no Starlight: `astro build` indexes the site; the component
 * `@siskin/starlight/SearchBox.astro` is the box. Throws as above. */
export function siskin(options?: BoxOptions): AstroIntegration;
