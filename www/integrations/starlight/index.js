// @ts-check
import { fileURLToPath } from "node:url";
import { boxAttributes, indexSite } from "@siskin/integration";

const PACKAGE = "@siskin/starlight";

/** @type {typeof import("./index.d.ts").default} */
export default function siskinStarlight(options = {}) {
  const integration = siskin(options);
  return {
    name: PACKAGE,
    hooks: {
      "config:setup"({ config, updateConfig, addIntegration }) {
        const components = { ...config.components, Search: `${PACKAGE}/SearchBox.astro` };
        updateConfig({ pagefind: false, components });
        addIntegration(integration);
      },
    },
  };
}

/** @type {typeof import("./index.d.ts").siskin} */
export function siskin(options = {}) {
  const attributes = boxAttributes(options, PACKAGE);
  return {
    name: PACKAGE,
    hooks: {
      "astro:config:setup"({ updateConfig }) {
        const define = { SISKIN_BOX_ATTRIBUTES: JSON.stringify(attributes) };
        updateConfig({ vite: { define, ssr: { noExternal: [PACKAGE] } } });
      },
      async "astro:build:done"({ dir, logger }) {
        logger.info(await indexSite(fileURLToPath(dir), (text) => logger.warn(text)));
      },
    },
  };
}
