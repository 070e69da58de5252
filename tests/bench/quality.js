/** How well the dev questions of a BEIR collection are answered, page by page. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { rankings } from "./browser.js";
import { mean, ndcg, sample } from "./numbers.js";

const MOST_QUERIES = 300;
const SEED = 20_261_121;
const DEPTH = 10;

/** Questions with their relevant pages: `{text, gains}`; the same choice for every system. */
export function devQuestions(folder) {
  const texts = new Map(
    jsonLines(join(folder, "queries.jsonl")).map(({ _id, text }) => [_id, text]),
  );
  const judged = new Map();
  const rows = readFileSync(join(folder, "qrels/dev.tsv"), "utf8").trim().split("\n").slice(1);
  for (const row of rows) {
    const [query, page, score] = row.split("\t");
    if (Number(score) <= 0) continue;
    if (!judged.has(query)) judged.set(query, new Map());
    judged.get(query).set(page, Number(score));
  }
  const ids = [...judged.keys()].sort();
  return sample(ids, MOST_QUERIES, SEED).map((id) => ({
    text: texts.get(id),
    gains: judged.get(id),
  }));
}

function jsonLines(path) {
  const lines = readFileSync(path, "utf8").trim().split("\n");
  return lines.map((line) => JSON.parse(line));
}

/** The address of a page as `pages.json` has it: no fragment, no query, no index.html. */
export function pageAddress(url) {
  const { pathname } = new URL(url, "http://site.invalid/");
  return decodeURI(pathname).replace(/(^|\/)index\.html$/, "$1");
}

export async function quality(browser, server, questions, pages) {
  const texts = questions.map(({ text }) => text);
  const answers = await rankings(browser, server, texts, DEPTH);
  const unknown = new Set();
  const scores = answers.map((urls, at) => {
    const ids = urls.map((url) => {
      const address = pageAddress(url);
      if (!(address in pages)) unknown.add(address);
      return pages[address];
    });
    return ndcg(ids, questions[at].gains, DEPTH);
  });
  if (unknown.size > 0) throw new Error(`no such pages: ${[...unknown].slice(0, 3).join(", ")}`);
  const empty = answers.filter((urls) => urls.length === 0).length;
  return { queries: scores.length, ndcg10: mean(scores), without_results: empty };
}
