import MiniSearch from "minisearch";
import { excerpt, fetchText } from "./excerpt.js";

export async function start() {
  const options = {
    idField: "url",
    fields: ["title", "headings", "text"],
    storeFields: ["title", "text"],
  };
  const index = MiniSearch.loadJSON(await fetchText("/index/index.json"), options);
  return {
    async query(text, limit) {
      const found = index.search(text).slice(0, limit);
      return found.map((hit) => ({
        url: hit.id,
        title: hit.title,
        excerpt: excerpt(hit.text, hit.terms),
      }));
    },
  };
}
