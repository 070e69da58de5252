/** The npm packages, installed from their files: command, Node API and types. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import type * as Api from "../../www/src/node/node.js";
import { ANSWER, Project, QUESTION, REPOSITORY } from "./project.js";

const project = new Project();
const command = project.path("node_modules/.bin/siskin");
let api: typeof Api;
before(async () => {
  project.installFromNpm();
  // The API runs in this process: what points into the checkout must not reach it.
  for (const name of Object.keys(process.env)) {
    if (name.startsWith("SISKIN_")) delete process.env[name];
  }
  process.env.XDG_CACHE_HOME = project.path(".cache");
  const entry = createRequire(project.path("package.json")).resolve("siskin");
  api = (await import(pathToFileURL(entry).href)) as typeof Api;
});
after(() => project.remove());

/** Pages that no generator wrote. */
const PAGES = [
  { url: "/", content: "<title>Home</title><main><h1>Home</h1><p>A garden by the sea.</p></main>" },
  {
    path: "guide/bread.html",
    content: "<title>Bread</title><main><h1>Bread</h1><p>Let the dough rise overnight.</p></main>",
  },
];

/** The index of the sample site, and nothing else that a run may have left. */
function indexedState(): { names: string[]; hash: string } {
  const hash = createHash("sha256").update(readFileSync(project.path("site/siskin/siskin.json")));
  return { names: readdirSync(project.path("site")), hash: hash.digest("hex") };
}

test("npm install, siskin index, siskin search", () => {
  assert.match(project.run(command, ["--version"]), /^siskin \d+\.\d+\.\d+/);
  project.indexAndSearch(command);
  assert.ok(existsSync(project.path("site/siskin/siskin.js")), "the browser's files are there");
});

test("the command's exit code and its error are those of siskin", () => {
  const failing = () => project.run(command, ["verify", "no-such-site"]);
  assert.throws(failing, { status: 2 });
});

test("a script imports index and open by the package's name", () => {
  project.write(
    "build.js",
    `import { index, open } from "siskin";
    const { output, pages } = await index("site", { pagefind: true });
    const search = await open(output);
    const { results } = await search.query(${JSON.stringify(QUESTION)});
    search.close();
    console.log(JSON.stringify({ pages, first: results[0].url }));`,
  );
  const printed = project.run(process.execPath, ["build.js"]);
  assert.deepEqual(JSON.parse(printed), { pages: 6, first: ANSWER });
  assert.ok(existsSync(project.path("site/pagefind/pagefind.js")));
});

test("pages that are in no folder are indexed, and searched without the browser's files", async () => {
  async function* pages() {
    yield* PAGES;
  }
  const output = project.path("made");
  const report = await api.index(pages(), { output, runtime: false });
  assert.deepEqual([report.pages, report.skipped, report.output], [2, [], output]);
  const search = await api.open(output);
  const { results } = await search.query("how long does the dough rest");
  search.close();
  assert.equal(results[0]?.url, "/guide/bread.html");
  assert.ok(!existsSync(join(output, "siskin.js")));
});

test("what is wrong is told by a typed error, and nothing is written", async () => {
  const output = project.path("wrong");
  const twice = [PAGES[0], PAGES[0]] as Api.SourceFile[];
  const outside = [{ path: "../a.html", content: "" }];
  const noPage = [{ url: "/guide", content: "" }];
  const cases: [string | Api.SourceFile[], Api.IndexOptions, Api.IndexErrorCode, RegExp][] = [
    ["no-such-site", { output }, "failed", /^no such folder: no-such-site/],
    [[], { output }, "options", /no page to index/],
    [PAGES, {}, "options", /`output`/],
    [PAGES, { output, pagefind: true }, "options", /`pagefind` needs a site's folder/],
    [twice, { output }, "options", /two files index\.html/],
    [outside, { output }, "options", /`\.\.\/a\.html` is no path/],
    [noPage, { output }, "options", /`\/guide` is no address of a page/],
  ];
  for (const [site, options, code, message] of cases) {
    await assert.rejects(api.index(site, options), { name: "IndexError", code, message });
  }
  const broken = {
    async *[Symbol.asyncIterator](): AsyncGenerator<Api.SourceFile> {
      yield* PAGES;
      throw new RangeError("the generator failed");
    },
  };
  await assert.rejects(api.index(broken, { output }), RangeError);
  assert.ok(!existsSync(output));
});

test("an aborted run rejects as aborted and leaves the older index as it was", async () => {
  const before = indexedState();
  const stopped = AbortSignal.abort(new Error("never mind"));
  const refused = { name: "IndexError", code: "aborted" };
  await assert.rejects(api.index(project.path("site"), { signal: stopped }), refused);

  const controller = new AbortController();
  const { signal } = controller;
  const running = api.index(project.path("site"), { signal, cache: false });
  const ended = assert.rejects(running, refused);
  while (!existsSync(project.path("site/.siskin.siskin-partial"))) await setTimeout(5);
  controller.abort();
  await ended;
  assert.deepEqual(indexedState(), before);
});

test("files that never come, or fail to, end the run", async () => {
  const output = project.path("never");
  async function* endless() {
    yield { path: "a.html", content: "<h1>A</h1>" };
    await new Promise(() => {});
  }
  const controller = new AbortController();
  const { signal } = controller;
  const running = api.index(endless(), { output, signal });
  const ended = assert.rejects(running, { name: "IndexError", code: "aborted" });
  await setTimeout(100);
  controller.abort();
  await ended;
  const other = new AbortController();
  function* stopped() {
    yield { path: "a.html", content: "<h1>A</h1>" };
    other.abort();
    yield { path: "b.html", content: "<h1>B</h1>" };
  }
  const refused = { name: "IndexError", code: "aborted" };
  await assert.rejects(api.index(stopped(), { output, signal: other.signal }), refused);

  const lost = new Error("the source is gone");
  async function* failing() {
    yield { path: "a.html", content: "" };
    throw lost;
  }
  await assert.rejects(api.index(failing(), { output }), lost);
  assert.ok(!existsSync(output));
});

test("without the platform's package the error names it and the way out", async () => {
  const scope = project.path("node_modules/@siskin");
  const name = `${process.platform}-${process.arch}`;
  renameSync(join(scope, name), join(scope, "elsewhere"));
  const missing = { code: "unsupported", message: new RegExp(`@siskin/${name} .* SISKIN_BINARY`) };
  try {
    await assert.rejects(api.index(project.path("site")), missing);
    process.env.SISKIN_BINARY = join(scope, "elsewhere/bin/siskin");
    await assert.rejects(api.index(project.path("absent")), { code: "failed" });
    process.env.SISKIN_BINARY = project.path("absent");
    await assert.rejects(api.index(project.path("site")), { code: "unsupported" });
    process.env.SISKIN_BINARY = "/bin/true";
    const other = { code: "unsupported", message: /no report: it is of another version/ };
    await assert.rejects(api.index(project.path("site")), other);
  } finally {
    delete process.env.SISKIN_BINARY;
    renameSync(join(scope, "elsewhere"), join(scope, name));
  }
});

test("the types fit a project for Node, one for a bundler and an edge worker", () => {
  const modules = join(REPOSITORY, "www/node_modules");
  const consumer = project.path("consumer");
  mkdirSync(consumer);
  cpSync(join(REPOSITORY, "tests/packages/consumer"), consumer, { recursive: true });
  const strict = { strict: true, noEmit: true, exactOptionalPropertyTypes: true, target: "es2022" };
  const node = { module: "nodenext", types: ["node"], typeRoots: [join(modules, "@types")] };
  const bundler = { module: "esnext", moduleResolution: "bundler", types: [] };
  for (const [file, options] of [
    ["node.ts", node],
    ["page.ts", { ...bundler, lib: ["es2022", "dom"] }],
    ["worker.ts", { ...bundler, lib: ["es2022", "webworker"] }],
  ] as const) {
    const compilerOptions = { ...strict, ...options };
    const config = `consumer/tsconfig.${file}.json`;
    project.write(config, JSON.stringify({ compilerOptions, files: [file] }));
    project.run(process.execPath, [join(modules, "typescript/bin/tsc"), "--project", config]);
  }
});
