import { escapeHtml } from "./excerpt.js";

export async function start() {
  const bundle = "/index/";
  const { open } = await import(`${bundle}siskin.js`);
  const search = await open(bundle, { worker: "auto" });
  return {
    async query(text, limit) {
      const { results } = await search.query(text, { mode: "table", limit });
      return results.map((found) => ({ ...found, excerpt: escapeHtml(found.excerpt) }));
    },
  };
}
