/** Writes docs/benchmarks.md, its data and its plots from what bench.js measured:
 * `node report.js RESULTS_FOLDER DOCS_FOLDER`. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { barChart } from "./plot.js";

const NAMES = {
  siskin: "Siskin",
  pagefind: "Pagefind",
  minisearch: "MiniSearch",
  orama: "Orama",
  lunr: "lunr",
};
const SITES = {
  "rust-book": "The Rust Book",
  opensearch: "OpenSearch documentation",
  mdn: "MDN",
};
const MISSING = "not run yet";

/** Bytes in the unit that fits. */
export function kilobytes(bytes) {
  if (bytes >= 1e8) return `${group(Math.round(bytes / 1e6))} MB`;
  if (bytes >= 1e7) return `${(bytes / 1e6).toFixed(1)} MB`;
  if (bytes >= 1e6) return `${(bytes / 1e6).toFixed(2)} MB`;
  return `${bytes >= 1e4 || bytes === 0 ? Math.round(bytes / 1e3) : (bytes / 1e3).toFixed(1)} KB`;
}

export function seconds(ms) {
  return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
}

function milliseconds(ms) {
  return `${ms < 10 ? ms.toFixed(1) : group(Math.round(ms))} ms`;
}

function group(number) {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** What `show` makes of a measurement, or why there is none. */
function cell(measured, show) {
  if (measured === undefined) return MISSING;
  return measured.failed ? "failed¹" : show(measured);
}

/** One figure of the browser part, which may have failed as a whole. */
function figure(browser, name, show) {
  return cell(browser?.failed ? browser : browser?.[name], show);
}

/** The first question without ranges; other systems ask for none. */
function wholeFiles(measured) {
  return measured?.body_bytes ? kilobytes(measured.body_bytes.median) : "—";
}

/** The first result over HTTP/2; measured where many small files are fetched. */
function overHttp2(measured) {
  return measured?.first_ms ? seconds(measured.first_ms) : "—";
}

const TABLES = [
  {
    title: "What a reader fetches",
    head: [
      "first keyword",
      "requests",
      "first question",
      "requests",
      "whole files",
      "later query",
      "p95",
    ],
    row: ({ browser }) => [
      figure(browser, "cold_keywords", ({ body_bytes }) => kilobytes(body_bytes.median)),
      figure(browser, "cold_keywords", ({ requests }) => requests.median),
      figure(browser, "cold_questions", ({ body_bytes }) => kilobytes(body_bytes.median)),
      figure(browser, "cold_questions", ({ requests }) => requests.median),
      wholeFiles(browser?.cold_questions_whole_files),
      figure(browser, "later", ({ body_bytes }) => kilobytes(body_bytes.median)),
      figure(browser, "later", ({ body_bytes }) => kilobytes(body_bytes.p95)),
    ],
  },
  {
    title: "How long a reader waits, and memory",
    head: [
      "first result, 4G",
      "slow 4G",
      "4G, HTTP/2",
      "slow 4G, HTTP/2",
      "warm p50",
      "warm p95",
      "JavaScript",
      "WebAssembly",
    ],
    row: ({ browser }) => [
      figure(browser, "first_result_4g", ({ first_ms }) => seconds(first_ms)),
      figure(browser, "first_result_slow_4g", ({ first_ms }) => seconds(first_ms)),
      overHttp2(browser?.first_result_4g_http2),
      overHttp2(browser?.first_result_slow_4g_http2),
      figure(browser, "warm", ({ p50_ms }) => milliseconds(p50_ms)),
      figure(browser, "warm", ({ p95_ms }) => milliseconds(p95_ms)),
      figure(browser, "memory", ({ js_bytes }) => kilobytes(js_bytes)),
      figure(browser, "memory", ({ wasm_bytes }) => kilobytes(wasm_bytes)),
    ],
  },
  {
    title: "What a site pays",
    head: ["CPU", "once more", "peak memory", "files", "raw", "as served"],
    row: ({ index }) => [
      cell(index, ({ cpu_s }) => cpu(cpu_s)),
      cell(index, ({ again_cpu_s }) => (again_cpu_s === undefined ? "—" : cpu(again_cpu_s))),
      cell(index, ({ rss_bytes }) => (rss_bytes === undefined ? MISSING : kilobytes(rss_bytes))),
      cell(index, ({ files }) => group(files)),
      cell(index, ({ raw_bytes }) => kilobytes(raw_bytes)),
      cell(index, ({ served_bytes }) => kilobytes(served_bytes)),
    ],
  },
  {
    title: "Which pages are found",
    head: ["nDCG@10", "queries", "of these without any result"],
    row: ({ quality }) => [
      cell(quality, ({ ndcg10 }) => (100 * ndcg10).toFixed(1)),
      cell(quality, ({ queries }) => queries),
      cell(quality, ({ without_results }) => without_results),
    ],
  },
];

function cpu(spent_s) {
  return spent_s === undefined ? MISSING : seconds(spent_s * 1000);
}

function table({ title, head, row }, systems) {
  const rows = Object.entries(NAMES).map(([key, name]) => {
    return `| ${[name, ...row(systems[key] ?? {})].join(" | ")} |`;
  });
  return [
    `### ${title}\n`,
    `| | ${head.join(" | ")} |`,
    `|---|${head.map(() => "---:|").join("")}`,
    ...rows,
    "",
  ].join("\n");
}

/** Why figures are missing, as one footnote. */
function failures(systems) {
  const lines = Object.entries(systems).flatMap(([key, { index, browser, quality }]) => {
    const parts = { index, browser, quality, ...(browser?.failed ? {} : browser) };
    return Object.entries(parts)
      .filter(([, part]) => part?.failed)
      .map(([part, { failed }]) => `${NAMES[key]}, ${part.replaceAll("_", " ")}: ${failed}.`);
  });
  return lines.length > 0 ? `¹ ${lines.join(" ")}\n` : "";
}

function siteSection([key, { pages, systems }]) {
  const dates = Object.values(systems).map(({ date }) => date.slice(0, 10));
  const run = [...new Set(dates)].sort().join(", ");
  const loads = Object.values(systems).flatMap(({ load }) => load ?? []);
  const busy =
    loads.length > 0
      ? ` The machine's load, mean of five minutes, was up to ${Math.max(...loads)}.`
      : "";
  const head = `## ${SITES[key]}: ${group(pages)} pages\n\nRun on ${run}.${busy}\n`;
  return [head, ...TABLES.map((each) => table(each, systems)), failures(systems)].join("\n");
}

/** A bar of the chart: one figure of one system. */
function bar(system, { browser } = {}, name, value, show) {
  const measured = browser?.failed ? browser : browser?.[name];
  const known = measured && !measured.failed ? value(measured) : undefined;
  const shown = known === undefined ? cell(measured, show).replace("¹", "") : show(known);
  return { label: NAMES[system], value: known, shown };
}

const CHARTS = {
  "first-question": [
    "Bytes to the answer of the first question, cache empty",
    "cold_questions",
    ({ body_bytes }) => body_bytes.median,
    kilobytes,
  ],
  "first-result": [
    "Time to the first result, 4G (9 Mbit/s, 170 ms)",
    "first_result_4g",
    ({ first_ms }) => first_ms,
    seconds,
  ],
};

function plots(sites) {
  const all = {};
  for (const [key, { systems }] of Object.entries(sites)) {
    for (const [file, [title, ...figure]] of Object.entries(CHARTS)) {
      const bars = Object.keys(NAMES).map((system) => bar(system, systems[system], ...figure));
      all[`${file}-${key}.svg`] = barChart(title, [{ name: SITES[key], bars }]);
    }
  }
  return all;
}

const GROWING = ["siskin", "pagefind"];

function bySize(sites) {
  return Object.values(sites).sort((a, b) => a.pages - b.pages);
}

/** Bytes of the first question at each size of the site. */
function growthPlot(sites) {
  const [title, ...figure] = CHARTS["first-question"];
  const groups = bySize(sites).map(({ pages, systems }) => ({
    name: `${group(pages)} pages`,
    bars: GROWING.map((system) => bar(system, systems[system], ...figure)),
  }));
  return barChart(`MDN: ${title[0].toLowerCase()}${title.slice(1)}`, groups);
}

function growthSection(sites) {
  const rows = bySize(sites).flatMap(({ pages, systems }) =>
    GROWING.map((key) => {
      const { index, browser } = systems[key] ?? {};
      const cells = [
        cell(index, ({ cpu_s, again_cpu_s }) => cpu(again_cpu_s ?? cpu_s)),
        cell(index, ({ files }) => group(files)),
        cell(index, ({ served_bytes }) => kilobytes(served_bytes)),
        figure(browser, "cold_questions", ({ body_bytes }) => kilobytes(body_bytes.median)),
        figure(browser, "later", ({ body_bytes }) => kilobytes(body_bytes.median)),
        figure(browser, "first_result_4g", ({ first_ms }) => seconds(first_ms)),
        figure(browser, "warm", ({ p50_ms }) => milliseconds(p50_ms)),
      ];
      return `| ${[group(pages), NAMES[key], ...cells].join(" | ")} |`;
    }),
  );
  const reasons = bySize(sites).map((each) => failures(each.systems));
  return `## Growth: an eighth, a quarter, half and all of MDN

![First question by size of the site](plots/growth.svg)

| pages | | CPU | files | as served | first question | later query | first result, 4G | warm p50 |
|---:|---|---:|---:|---:|---:|---:|---:|---:|
${rows.join("\n")}

${reasons.join("")}`;
}

function introduction({ machine, sites }) {
  const { processor, cores, memory_bytes, node, chromium } = machine;
  const here = dirname(fileURLToPath(import.meta.url));
  const queries = JSON.parse(readFileSync(join(here, "queries.json"), "utf8"));
  const versions = Object.entries(NAMES).flatMap(([key, name]) => {
    const found = new Set(
      Object.values(sites).flatMap(({ systems }) => systems[key]?.version ?? []),
    );
    return found.size === 0 ? [] : [`${name} ${[...found].join(" and ")}`];
  });
  return `# Benchmarks: Siskin beside other searches for static sites

Written by \`cargo xtask bench rivals\`; the figures are in [benchmarks.json](benchmarks.json).

\`\`\`sh
cargo xtask bench rivals --docs FOLDER --beir FOLDER [--site NAME] [--system NAME] [--growth]
\`\`\`

FOLDER of \`--docs\` holds the Markdown of ${Object.values(SITES).join(", ")}; that of \`--beir\` the
collections \`docs-NAME-anchors\`. The command says what it needs where something is missing.

Versions: ${versions.join(", ")}; Node ${node}, ${chromium}. Machine: ${cores} cores (${processor}),
${Math.round(memory_bytes / 2 ** 30)} GiB. Bytes, files and nDCG do not depend on the machine and what else it does; times do.

## How to read the figures

- Every site is rendered from Markdown to plain HTML by \`tests/bench/render.js\` and given to each
  system. Pagefind and Siskin read the HTML. MiniSearch, Orama and lunr get title, headings and text of
  each page and write one JSON file, which holds the text too, since excerpts are shown. All run with
  their default settings (Orama's match beginnings of words); nobody's ranking was tuned.
- **First keyword, first question**: bytes of bodies on the wire from an empty browser cache to five
  results with excerpts, median of ${queries.mdn.keywords.length} keywords and of ${queries.mdn.questions.length} questions
  (\`tests/bench/queries.json\`); large indexes are loaded fewer times. Brotli (quality 9; 5 above 16 MiB)
  where hosts compress (HTML, JavaScript, JSON, WebAssembly), other files as they are. Headers are not in
  it: add about 200 bytes a request.
- **Whole files**: the first question again from a host that cannot send parts of files (\`Range\`), as
  most can. Only Siskin asks for parts.
- **Later query**: further questions in the same page, 20 of them.
- **First result**: from the start of navigation to the first result in the page. 4G is 9 Mbit/s and
  170 ms, slow 4G 1.6 Mbit/s and 150 ms, as Chromium emulates them, over HTTP/1.1; median of six loads,
  of fewer where one takes long (see loads in the data).
- **Warm**: a question whose files are all there, until its results are in the page, 100 queries.
- **JavaScript, WebAssembly**: memory of page and workers after 20 queries.
- **CPU, peak memory**: of the indexer, which knows nothing of the site; **once more**: Siskin again over
  the unchanged site, whose passages it has kept encoded (under Growth its CPU is that too);
  **as served**: all files that it wrote.
- **nDCG@10**: the words of links between the site's pages, each with the page that it points to (dev
  split, at most 300, chosen by a fixed seed), asked in the same browser page. The questions are mostly
  titles, which suits word search. The Rust Book has so few that its figure says little.
- A KB is 1,000 bytes.
${Object.keys(sites).length < Object.keys(SITES).length ? "\nSites that are missing here have not been run yet.\n" : ""}`;
}

function pictures(sites) {
  const lines = Object.keys(sites).flatMap((key) => [
    `![First question, ${SITES[key]}](plots/first-question-${key}.svg)`,
    `![First result, ${SITES[key]}](plots/first-result-${key}.svg)`,
  ]);
  return `## At a glance\n\n${lines.join("\n")}\n`;
}

/** Every file of the report: name → content. */
export function report(results, growth) {
  const order = Object.keys(SITES).filter((key) => results.sites[key]);
  const sites = Object.fromEntries(order.map((key) => [key, results.sites[key]]));
  const sections = [
    introduction({ ...results, sites }),
    pictures(sites),
    ...Object.entries(sites).map(siteSection),
    ...(growth ? [growthSection(growth.sites)] : []),
  ];
  const files = Object.entries(plots(sites)).map(([name, svg]) => [`plots/${name}`, svg]);
  if (growth) {
    files.push(["plots/growth.svg", growthPlot(growth.sites)]);
    files.push(["scaling-data/mdn.json", `${JSON.stringify(growth, null, 1)}\n`]);
  }
  return {
    "benchmarks.md": `${sections.join("\n").trimEnd()}\n`,
    "benchmarks.json": `${JSON.stringify({ ...results, sites }, null, 1)}\n`,
    ...Object.fromEntries(files),
  };
}

function readJson(path) {
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : undefined;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [from, to] = process.argv.slice(2);
  const results = readJson(join(from, "results.json"));
  const growth = readJson(join(from, "growth.json"));
  if (!to || !results) throw new Error("usage: node report.js RESULTS_FOLDER DOCS_FOLDER");
  for (const [name, content] of Object.entries(report(results, growth))) {
    mkdirSync(dirname(join(to, name)), { recursive: true });
    writeFileSync(join(to, name), content);
  }
}
