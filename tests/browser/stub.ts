import type { Facet, Result } from "../../www/src/api.js";
import type { CheckedQuery } from "../../www/src/query.js";
import type { Site } from "./site.js";

/** Answers of an engine that is not there: by question, and else {@link pages}. */
export type Answers = Record<string, Partial<Result>[]>;

/** What a stub does besides finding {@link pages}. */
interface Stub {
  answers?: Answers;
  facets?: Facet[];
  /** Folders of the bundles; the script is in the first. */
  bundles?: string[];
  /** File in each of them that every question needs. */
  needed?: string;
}

/** Serves `answers` in the place of the engine, so that a test decides what is found. Answers in mode
 * `full` come in the opposite order, after the file `network` of the bundle has been fetched. Each result
 * tells in `meta.filter` by which condition pages were chosen. */
export function stubEngine(
  site: Site,
  { answers = {}, facets = [], bundles = ["/siskin/"], needed = "" }: Stub = {},
): void {
  for (const bundle of bundles) site.file(`${bundle}network`, "");
  for (const bundle of needed === "" ? [] : bundles) site.file(`${bundle}${needed}`, "");
  site.file(
    `${bundles[0]}siskin-worker.js`,
    `const answers = ${JSON.stringify(answers)};
    const facets = ${JSON.stringify(facets)};
    const pages = ${pages};
    (${work})(answers, pages, facets, ${JSON.stringify(needed)});`,
  );
}

/** Thirty pages with three sections each, as an index would find them for `text`. */
function pages(text: string): Partial<Result>[] {
  const matches = [{ kind: "word" as const, query: text, text }];
  const sections = (page: number) =>
    [1, 2, 3].map((number) => ({
      url: `/page-${page}.html#part-${number}`,
      heading: `Part ${number}`,
      excerpt: `Here ${text} is told of in part ${number} of page ${page}, at some length.`,
      matches,
    }));
  return Array.from({ length: 30 }, (_, page) => ({
    ...sections(page)[0],
    title: `Page ${page}`,
    score: 100 - page,
    sections: sections(page),
  }));
}

/** The worker's side of the protocol; runs there, so it may name nothing outside itself. */
function work(answers: Answers, find: typeof pages, facets: Facet[], needed: string): void {
  interface Request {
    type: string;
    id: number;
    query: CheckedQuery;
    places: { bundle: string };
  }
  let bundle = "";
  const plain = { title: "", heading: "", excerpt: "", score: 0 };
  const blank = { ...plain, matches: [], filters: [] };
  const answer = ({ text, mode, limit, first, sections, filter }: CheckedQuery) => {
    const meta = { filter: JSON.stringify(filter) };
    const found = answers[text] ?? find(text);
    if (mode === "full") found.reverse();
    const results = found.slice(first, first + limit).map((result) => ({
      ...blank,
      meta,
      ...result,
      sections: (result.sections ?? []).slice(0, sections),
    }));
    const total = found.length;
    return { query: text, mode, took_ms: 1, results, suggestions: [], facets, total };
  };
  /** The first file that cannot be had. Of the network half is there at once. */
  const lacking = async ({ mode }: CheckedQuery) => {
    const progress = { loaded_bytes: 1, total_bytes: 2 };
    if (mode === "full") postMessage({ type: "progress", progress });
    for (const file of [needed, mode === "full" ? "network" : ""]) {
      if (file !== "" && !(await fetch(`${bundle}${file}`)).ok) return file;
    }
    return undefined;
  };
  addEventListener("message", async ({ data }: MessageEvent<Request>) => {
    if (data.type === "cancel") return;
    if (data.type === "open") bundle = data.places.bundle;
    const is_query = data.type === "query";
    const message = is_query ? await lacking(data.query) : undefined;
    const reply = is_query && message === undefined ? answer(data.query) : undefined;
    if (message === undefined) postMessage({ type: "done", id: data.id, answer: reply });
    else postMessage({ type: "failed", id: data.id, code: "network", message });
  });
  postMessage({ type: "ready" });
}
