/** The page that a reader opens: asks what `?q=` holds, and whatever the bench asks later. */
import { start } from "bench-engine";

const RESULT_COUNT = 5;
const list = document.querySelector("#results");
const engine = start();

/** Shows results with excerpts, each as soon as it is there; tells when the first one was. */
async function ask(question) {
  const began = performance.now();
  let first;
  list.replaceChildren();
  const { query } = await engine;
  for (const coming of (await query(question, RESULT_COUNT)).slice(0, RESULT_COUNT)) {
    const { url, title, excerpt } = await coming;
    const item = document.createElement("li");
    const link = Object.assign(document.createElement("a"), { href: url, textContent: title });
    item.append(link, Object.assign(document.createElement("p"), { innerHTML: excerpt }));
    list.append(item);
    first ??= performance.now();
  }
  const now = performance.now();
  return { took_ms: now - began, first_ms: first ?? now, count: list.children.length };
}

/** Addresses of the first `limit` results. */
async function addresses(question, limit) {
  const { query } = await engine;
  const results = await Promise.all((await query(question, limit)).slice(0, limit));
  return results.map(({ url }) => url);
}

const question = new URLSearchParams(location.search).get("q");
globalThis.bench = { ask, addresses, cold: question === null ? undefined : ask(question) };
