/** A page's own script, with siskin from npm: it asks a question, and has a search box. */
import { open, SearchError } from "siskin";
import "siskin/box";

const search = await open("/siskin/");
const { results } = await search.query("stop a request halfway", { limit: 3 });
for (const { url, title } of results) {
  const link = document.createElement("a");
  link.href = url;
  link.textContent = title;
  const row = document.createElement("li");
  row.append(link);
  document.querySelector("ol").append(row);
}
const refused = await search.query("no result wanted", { limit: 0 }).catch((error) => error);
search.close();
document.body.dataset.refused = refused instanceof SearchError ? refused.code : String(refused);
