import { create, load, search } from "@orama/orama";
import { excerpt, fetchJson } from "./excerpt.js";

export async function start() {
  const schema = { url: "string", title: "string", headings: "string", text: "string" };
  const index = create({ schema });
  load(index, await fetchJson("/index/index.json"));
  return {
    async query(text, limit) {
      const properties = ["title", "headings", "text"];
      const { hits } = await search(index, { term: text, limit, properties });
      const words = text.split(/\W+/).filter(Boolean);
      return hits.map(({ document: { url, title, text: body } }) => ({
        url,
        title,
        excerpt: excerpt(body, words),
      }));
    },
  };
}
