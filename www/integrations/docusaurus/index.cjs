// @ts-check
// Docusaurus loads plugins with require(), which modules of the newer kind are not for: they are
// imported below.
const path = require("node:path");

const PACKAGE = "@siskin/docusaurus";

/** @type {typeof import("./index.d.ts")} */
module.exports = async function siskin(context, { id: _, ...options }) {
  const { boxAttributes, indexSite, scriptAddress } = await import("@siskin/integration");
  const attributes = boxAttributes(options, PACKAGE);
  const src = scriptAddress(context.baseUrl);
  // There is no index before the site is built.
  const scripts = process.env.NODE_ENV === "production" ? [script(src)] : [];
  return {
    name: PACKAGE,
    getThemePath: () => path.join(__dirname, "theme"),
    getClientModules: () => [path.join(__dirname, "search-box.css")],
    contentLoaded: async ({ actions }) => actions.setGlobalData({ attributes }),
    injectHtmlTags: () => ({ headTags: scripts }),
    async postBuild({ outDir }) {
      const warn = (text) => process.stderr.write(`[WARNING] ${text}\n`);
      process.stdout.write(`${await indexSite(outDir, warn)}\n`);
    },
  };
};

/** @param {string} src */
function script(src) {
  return { tagName: "script", attributes: { type: "module", src } };
}
