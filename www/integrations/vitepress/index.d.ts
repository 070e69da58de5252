import type { BoxOptions } from "@siskin/integration";
import type { UserConfig } from "vitepress";

/** The configuration with Siskin in it: `vitepress build` indexes the site, and the box stands where
 * VitePress has its own. Throws an `Error` where an option is not valid. */
export function withSiskin<ThemeConfig>(
  config: UserConfig<ThemeConfig>,
  options?: BoxOptions,
): UserConfig<ThemeConfig>;
