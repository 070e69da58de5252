import lunr from "lunr";
import { excerpt, fetchJson } from "./excerpt.js";

export async function start() {
  const { index: data, pages } = await fetchJson("/index/index.json");
  const index = lunr.Index.load(data);
  return {
    /** As `index.search`, but a colon or a caret in the question is no syntax error. */
    async query(text, limit) {
      const found = index.query((query) => query.term(lunr.tokenizer(text)));
      return found.slice(0, limit).map(({ ref, matchData }) => ({
        url: ref,
        title: pages[ref].title,
        excerpt: excerpt(pages[ref].text, Object.keys(matchData.metadata)),
      }));
    },
  };
}
