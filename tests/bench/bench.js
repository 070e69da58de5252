/** Measures searches for static sites side by side. `cargo xtask bench rivals` runs it:
 *
 *     node bench.js --docs FOLDER --beir FOLDER --out FOLDER [--site NAME]... [--system NAME]...
 *                   [--part index|browser|quality]... [--bundle FOLDER] [--limit MINUTES] [--growth]
 *
 * Results are merged into OUT/results.json (OUT/growth.json), site by site and system by system, so
 * that any part can be run again. A system that fails is recorded with its reason. --bundle takes
 * Siskin's index from a folder, and what it cost from FOLDER.cost.json if measure.py wrote that. */
import { execFileSync, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { cpus, loadavg, totalmem } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { build } from "esbuild";
import * as browsing from "./browser.js";
import { compressFile, compressFolder } from "./files.js";
import { random } from "./numbers.js";
import { devQuestions, quality } from "./quality.js";
import { renderSite } from "./render.js";
import { certificate, Server } from "./server.js";
import { HERE, SYSTEMS } from "./systems.js";

const SITES = ["rust-book", "opensearch", "mdn"];
const PARTS = ["index", "browser", "quality"];
/** Systems whose time to the first result depends on how requests share a connection. */
const MANY_FILES = ["siskin", "pagefind"];
/** Parts of MDN whose cost shows how a search grows with its site. */
const GROWTH = { site: "mdn", shares: [0.125, 0.25, 0.5, 1], systems: ["siskin", "pagefind"] };

/** Scripts of systems that a page names in its HTML, as their documentation has it. */
const SCRIPTS = { siskin: "/index/siskin.js", pagefind: "/index/pagefind.js" };

function page(system) {
  const script = SCRIPTS[system];
  const preload = script ? `<link rel="modulepreload" href="${script}">` : "";
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Search</title><link rel="icon" href="data:,">
${preload}<script type="module" src="/client.js"></script></head>
<body><ol id="results"></ol></body></html>
`;
}

const { values: options } = parseArgs({
  options: {
    docs: { type: "string" },
    beir: { type: "string" },
    out: { type: "string" },
    bundle: { type: "string" },
    limit: { type: "string", default: "120" },
    site: { type: "string", multiple: true, default: [] },
    system: { type: "string", multiple: true, default: [] },
    part: { type: "string", multiple: true, default: [] },
    growth: { type: "boolean", default: false },
  },
});

function say(message) {
  process.stderr.write(`==> ${message}\n`);
}

function chosen(wanted, all, kind) {
  const wrong = wanted.find((name) => !all.includes(name));
  if (wrong) throw new Error(`no ${kind} ${wrong}; there are ${all.join(", ")}`);
  return wanted.length > 0 ? all.filter((name) => wanted.includes(name)) : all;
}

/** The folder NAME below `place`, or the unpacked NAME.tar.gz that is there. */
function unpacked(place, name) {
  if (existsSync(join(place, name))) return join(place, name);
  const archive = join(place, `${name}.tar.gz`);
  if (!existsSync(archive)) throw new Error(`${place} holds neither ${name} nor ${name}.tar.gz`);
  const folder = join(out, "unpacked", name);
  if (!existsSync(folder)) {
    mkdirSync(dirname(folder), { recursive: true });
    execFileSync("tar", ["xzf", resolve(archive), "-C", dirname(folder)]);
  }
  return folder;
}

/** Folder of the rendered site and its map from addresses to ids; rendered once. */
function rendered(site) {
  const folder = join(out, "sites", site);
  if (!existsSync(`${folder}.pages.json`)) {
    say(`${site}: rendering its Markdown`);
    renderSite(site, unpacked(options.docs, site), folder);
  }
  return { folder, pages: JSON.parse(readFileSync(`${folder}.pages.json`, "utf8")) };
}

/** A part of a site: the same pages are in every larger part. */
function renderedShare(site, share) {
  const whole = rendered(site);
  if (share === 1) return whole;
  const folder = join(out, "sites", `${site}-${share}`);
  const next = random(1);
  const kept = Object.entries(whole.pages).filter(() => next() < share);
  rmSync(folder, { recursive: true, force: true });
  for (const [address] of kept) {
    mkdirSync(join(folder, address), { recursive: true });
    const file = join(address, "index.html");
    linkSync(join(whole.folder, file), join(folder, file));
  }
  return { folder, pages: Object.fromEntries(kept) };
}

/** Where a system's page, index and compressed copies lie. */
function places(site, system) {
  const base = join(out, "served", site, system);
  return {
    base,
    root: join(base, "root"),
    index: join(base, "root/index"),
    copies: join(base, "br"),
  };
}

/** Runs the system's own indexer; throws with the reason if it fails.
 *
 * Siskin begins with no passage known, and is then run once more over the unchanged site; a part of a
 * site whose growth is looked at begins with what the whole site has left. */
function buildIndex(name, system, folder) {
  const { base, index } = places(name, system);
  rmSync(base, { recursive: true, force: true });
  mkdirSync(dirname(index), { recursive: true });
  if (system !== "siskin") return indexed(base, SYSTEMS[system].command(folder, index));
  if (options.bundle) {
    cpSync(options.bundle, index, { recursive: true });
    return readJson(`${resolve(options.bundle)}.cost.json`) ?? {};
  }
  const passages = join(out, "passages", options.growth ? GROWTH.site : name);
  if (options.growth && !existsSync(passages)) {
    throw new Error(`measure ${GROWTH.site} first: --growth takes up the passages that it leaves`);
  }
  if (!options.growth) rmSync(passages, { recursive: true, force: true });
  const command = SYSTEMS.siskin.command(folder, index, passages);
  const first = indexed(base, command);
  if (options.growth) {
    const { cpu_s, ...others } = first;
    return { ...others, again_cpu_s: cpu_s };
  }
  return { ...first, again_cpu_s: indexed(base, command).cpu_s };
}

/** What a command line that makes an index costs. */
function indexed(base, command) {
  const report = join(base, "cost.json");
  const limit = String(Number(options.limit) * 60);
  const { status } = spawnSync("python3", [join(HERE, "measure.py"), report, limit, ...command], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (status !== 0) throw new Error("measure.py failed: is python3 there?");
  const cost = JSON.parse(readFileSync(report, "utf8"));
  if (cost.status !== "ok") {
    const { wall_s, rss_bytes } = cost;
    const spent = `after ${Math.round(wall_s)} s with ${Math.round(rss_bytes / 1e6)} MB`;
    throw new Error(`indexing ended with ${cost.status} ${spent}: ${cost.message}`);
  }
  return cost;
}

async function indexPart({ name, system, folder }) {
  const cost = buildIndex(name, system, folder);
  const { root, copies } = places(name, system);
  rmSync(copies, { recursive: true, force: true });
  return { ...cost, ...compressFolder({ root, copies }, "index") };
}

/** The page with its script, bundled as a site would ship it. */
async function writePage(name, system) {
  const { root } = places(name, system);
  await build({
    entryPoints: [join(HERE, "clients/page.js")],
    outfile: join(root, "client.js"),
    alias: { "bench-engine": join(HERE, `clients/${system}.js`) },
    absWorkingDir: HERE,
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    logLevel: "error",
  });
  writeFileSync(join(root, "index.html"), page(system));
  for (const file of ["client.js", "index.html"]) compressFile(places(name, system), file);
}

/** Every figure is tried on its own: a large index may answer, but not on a slow network. */
function browserPart({ name, system, queries, browser }) {
  return withServer(name, system, async (server) => {
    const { first, keywords, questions } = queries;
    const mixed = keywords.flatMap((keyword, at) => [keyword, questions[at]]);
    const tasks = {
      cold_keywords: () => browsing.coldLoads(browser, server, keywords),
      cold_questions: () => browsing.coldLoads(browser, server, questions),
      cold_questions_whole_files: () => wholeFiles(browser, server, system, questions),
      later: () => browsing.laterQueries(browser, server, first, mixed),
      warm: () => browsing.warmLatency(browser, server, mixed),
      memory: () => browsing.memory(browser, server, mixed),
      first_result_4g: () => browsing.firstResult(browser, server, mixed, "4g"),
      first_result_slow_4g: () => browsing.firstResult(browser, server, mixed, "slow 4g"),
      first_result_4g_http2: () => overHttp2({ name, system, mixed, browser }, "4g"),
      first_result_slow_4g_http2: () => overHttp2({ name, system, mixed, browser }, "slow 4g"),
    };
    const result = {};
    for (const [task, measured] of Object.entries(tasks)) {
      result[task] = await attempt(system, `${name}: ${system}: ${task}`, measured);
    }
    return result;
  });
}

/** The first result over HTTP/2, for the systems that fetch many small files. */
async function overHttp2({ name, system, mixed, browser }, network) {
  if (!MANY_FILES.includes(system)) return undefined;
  const { root, copies } = places(name, system);
  const server = await new Server(root, copies, certificate()).start();
  try {
    return await browsing.firstResult(browser, server, mixed, network);
  } finally {
    await server.stop();
  }
}

/** First questions where the host sends no parts of files: only Siskin asks for any. */
async function wholeFiles(browser, server, system, questions) {
  if (system !== "siskin") return undefined;
  server.ranges = false;
  try {
    return await browsing.coldLoads(browser, server, questions);
  } finally {
    server.ranges = true;
  }
}

/** What the task returns, or why it failed. */
async function attempt(system, name, task) {
  try {
    return await task();
  } catch (error) {
    say(`${name} failed: ${error.stack}`);
    failures += 1;
    if (system === "siskin") process.exitCode = 1;
    return { failed: String(error.message).split("\n")[0] };
  }
}

async function withServer(name, system, task) {
  const { root, copies } = places(name, system);
  if (!existsSync(join(root, "index"))) throw new Error("there is no index");
  await writePage(name, system);
  const server = await new Server(root, copies).start();
  try {
    const result = await task(server);
    if (server.missing.length > 0) throw new Error(`not found: ${server.missing.slice(0, 3)}`);
    return result;
  } finally {
    await server.stop();
  }
}

function qualityPart({ name, system, beir, pages, browser }) {
  return withServer(name, system, (server) => quality(browser, server, beir, pages));
}

const MEASURES = { index: indexPart, browser: browserPart, quality: qualityPart };

/** One system on one site. What fails is a result too; only where Siskin fails is the exit code 1. */
async function measure(task, parts) {
  const { version } = SYSTEMS[task.system];
  const result = { version: version(), date: new Date().toISOString(), load: load() };
  for (const part of parts) {
    say(`${task.name}: ${task.system}: ${part}`);
    const browser = part === "index" ? undefined : await browsing.launch();
    const title = `${task.name}: ${task.system}: ${part}`;
    result[part] = await attempt(task.system, title, () => MEASURES[part]({ ...task, browser }));
    await browser?.close();
    result.load = Math.max(result.load, load());
  }
  return result;
}

/** Processes that wanted to run, on the mean of five minutes: above the cores, times are too long. */
function load() {
  return Math.round(10 * loadavg()[1]) / 10;
}

function readJson(path) {
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : undefined;
}

function merge(file, name, about, system, result) {
  const path = join(out, file);
  const all = readJson(path) ?? { sites: {} };
  all.machine = machine();
  all.sites[name] ??= { systems: {} };
  Object.assign(all.sites[name], about);
  all.sites[name].systems[system] = { ...all.sites[name].systems[system], ...result };
  writeFileSync(path, `${JSON.stringify(all, null, 1)}\n`);
}

function machine() {
  const chrome = process.env.SISKIN_CHROME ?? "/usr/bin/chromium";
  return {
    processor: cpus()[0]?.model.trim() ?? "unknown",
    cores: cpus().length,
    memory_bytes: totalmem(),
    node: process.version,
    chromium: browserVersion(chrome),
  };
}

function browserVersion(chrome) {
  const stdio = ["ignore", "pipe", "ignore"];
  return execFileSync(chrome, ["--version"], { encoding: "utf8", stdio }).trim();
}

async function rivals() {
  const parts = chosen(options.part, PARTS, "part");
  for (const site of chosen(options.site, SITES, "site")) {
    const { folder, pages } = rendered(site);
    const beir = devQuestions(unpacked(options.beir, `docs-${site}-anchors`));
    const queries = allQueries[site];
    for (const system of chosen(options.system, Object.keys(SYSTEMS), "system")) {
      const task = { name: site, system, folder, pages, beir, queries };
      const about = { pages: Object.keys(pages).length };
      merge("results.json", site, about, system, await measure(task, parts));
    }
  }
}

async function growth() {
  for (const share of GROWTH.shares) {
    const name = share === 1 ? GROWTH.site : `${GROWTH.site}-${share}`;
    const { folder, pages } = renderedShare(GROWTH.site, share);
    for (const system of chosen(options.system, GROWTH.systems, "system")) {
      const task = { name, system, folder, pages, queries: allQueries[GROWTH.site] };
      const about = { pages: Object.keys(pages).length, share };
      const result = compared(name, system) ?? (await measure(task, ["index", "browser"]));
      merge("growth.json", name, about, system, result);
    }
  }
}

/** What the comparison has measured on the whole site need not be measured again. */
function compared(name, system) {
  const found = readJson(join(out, "results.json"))?.sites[name]?.systems[system];
  return found?.index && found.browser && !found.browser.failed ? found : undefined;
}

const NEEDS = `The bench reads documentation that is not in the repository:
  --docs FOLDER  with ${SITES.map((site) => `${site}.tar.gz`).join(", ")} (Markdown sources)
  --beir FOLDER  with ${SITES.map((site) => `docs-${site}-anchors.tar.gz`).join(", ")} (BEIR)
Each may also be there as an unpacked folder.`;

if (!options.docs || (!options.beir && !options.growth)) {
  process.stderr.write(`${NEEDS}\n`);
  process.exit(2);
}
const out = resolve(options.out ?? "target/bench");
const allQueries = JSON.parse(readFileSync(join(HERE, "queries.json"), "utf8"));
let failures = 0;
mkdirSync(out, { recursive: true });
await (options.growth ? growth() : rivals());
say(`${failures} failed; results are in ${out}`);
