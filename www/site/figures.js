/** The few figures that the first page shows, taken from where `cargo xtask bench` wrote them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { REPOSITORY } from "./links.js";

const KILOBYTE = 1000;

/** For each site that was measured: Siskin beside Pagefind. */
export function figures() {
  const { sites } = JSON.parse(readFileSync(join(REPOSITORY, "docs/benchmarks.json"), "utf8"));
  return Object.entries(sites).map(([name, { pages, systems }]) => ({
    name: NAMES[name] ?? name,
    pages: pages.toLocaleString("en"),
    siskin: figuresOf(systems.siskin),
    pagefind: figuresOf(systems.pagefind),
  }));
}

const NAMES = { "rust-book": "The Rust Book", opensearch: "OpenSearch", mdn: "MDN" };

function figuresOf({ browser, quality }) {
  return {
    first_kb: Math.round(browser.cold_questions.body_bytes.median / KILOBYTE),
    later_kb: Math.round(browser.later.body_bytes.median / KILOBYTE),
    warm_ms: browser.warm.p50_ms.toPrecision(2),
    ndcg: quality === undefined ? "" : (100 * quality.ndcg10).toFixed(1),
  };
}
