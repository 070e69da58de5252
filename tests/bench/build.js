/** Builds the index of an engine that is a JavaScript library: `node build.js ENGINE SITE OUT`.
 *
 * Title, headings and text are searched, with the engine's own settings. The text is kept beside the
 * index, since an excerpt is shown with every result. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { create, insertMultiple, save } from "@orama/orama";
import lunr from "lunr";
import MiniSearch from "minisearch";
import { readSite } from "./pages.js";

const FIELDS = ["title", "headings", "text"];

const ENGINES = {
  minisearch(pages) {
    const index = new MiniSearch({
      idField: "url",
      fields: FIELDS,
      storeFields: ["title", "text"],
    });
    index.addAll(pages);
    return index.toJSON();
  },
  async orama(pages) {
    const schema = { url: "string", title: "string", headings: "string", text: "string" };
    const index = create({ schema });
    await insertMultiple(index, pages);
    return save(index);
  },
  lunr(pages) {
    const index = lunr(function build() {
      this.ref("url");
      for (const field of FIELDS) this.field(field);
      for (const page of pages) this.add(page);
    });
    const shown = pages.map(({ url, title, text }) => [url, { title, text }]);
    return { index, pages: Object.fromEntries(shown) };
  },
};

const [engine, site, out] = process.argv.slice(2);
if (!(engine in ENGINES) || !out) {
  throw new Error(`usage: node build.js ${Object.keys(ENGINES).join("|")} SITE OUT`);
}
const index = await ENGINES[engine](readSite(site));
mkdirSync(out, { recursive: true });
writeFileSync(join(out, "index.json"), JSON.stringify(index));
