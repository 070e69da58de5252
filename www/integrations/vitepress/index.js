// @ts-check
import { fileURLToPath } from "node:url";
import { boxAttributes, indexSite, scriptAddress } from "@siskin/integration";

const PACKAGE = "@siskin/vitepress";
const SEARCH_BOX = fileURLToPath(new URL("./search-box.js", import.meta.url));

/** VitePress runs `transformHead` and `buildEnd` when it builds only: there is no index before that.
 * @type {typeof import("./index.d.ts").withSiskin} */
export function withSiskin(config, options = {}) {
  const attributes = boxAttributes(options, PACKAGE);
  return {
    ...config,
    // VitePress would build the index of its own search.
    themeConfig: { ...config.themeConfig, search: undefined },
    vite: { ...config.vite, plugins: [...(config.vite?.plugins ?? []), searchBox(attributes)] },
    async transformHead(context) {
      const head = (await config.transformHead?.(context)) ?? [];
      // The command's own --base counts more than the configuration's.
      const src = scriptAddress(context.siteConfig.site.base);
      return [...head, ["script", { type: "module", src }]];
    },
    async buildEnd(site) {
      await config.buildEnd?.(site);
      const { logger } = site;
      logger.info(await indexSite(site.outDir, (text) => logger.warn(text)));
    },
  };
}

/** The box in place of the component that holds VitePress's own.
 * @param {Record<string, string>} attributes */
function searchBox(attributes) {
  return {
    name: PACKAGE,
    config: () => ({
      define: { SISKIN_BOX_ATTRIBUTES: JSON.stringify(attributes) },
      resolve: { alias: [{ find: /^.*\/VPNavBarSearch\.vue$/, replacement: SEARCH_BOX }] },
      ssr: { noExternal: [PACKAGE] },
    }),
  };
}
