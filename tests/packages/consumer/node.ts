/** A build script in TypeScript; compiled against the installed package, never run. */
import { IndexError, type IndexReport, index, open, SearchError } from "siskin";
import { index as byItsOwnName } from "siskin/node";

const report: IndexReport = await index("site", { pagefind: true, cache: false });
const problems: string[] = report.skipped.filter((file) => file.problem).map((file) => file.path);
const { signal } = new AbortController();
const pages = [{ url: "/guide/", content: new Uint8Array() }];
const same: IndexReport = await byItsOwnName(pages, { output: "out", signal });

const search = await open(report.output);
const { results } = await search.query("a question", { limit: 3, mode: "full" });
const headings: string[] = results.map(({ heading }) => heading);

// @ts-expect-error: no such option.
await index("site", { colour: "red" });
// @ts-expect-error: a page has a path or an address, not both.
await index([{ path: "a.html", url: "/a.html", content: "" }], { output: "out" });
// @ts-expect-error: no such mode.
await search.query("a question", { mode: "best" });

export function told(error: unknown): string {
  if (error instanceof IndexError) return error.code === "failed" ? error.message : "";
  return error instanceof SearchError && error.code === "corrupt" ? error.message : "";
}

export { headings, problems, same };
