/** Builds the runtime files that a bundle carries, and the entries of Node and of edge runtimes.
 *
 * SISKIN_WASM_DIR: folder with `search/siskin_web{.js,_bg.wasm}`,
 *   `encoder/siskin_web_encoder{.js,_bg.wasm}` and `tract/siskin_web_tract{.js,_bg.wasm}`, written by
 *   `wasm-bindgen --target web`.
 * SISKIN_DIST_DIR: output folder; what is for Node goes to its sibling `dist-node`, what is for edge runtimes to
 *   `dist-edge`, what is for pages that are bundled to `dist-bundled`. Its `pagefind.js` is no part of a bundle:
 *   `siskin index --pagefind` puts it beside one.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { cssAsText } from "./css.js";

const PACKAGE = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const WASM = folder("SISKIN_WASM_DIR");
const DIST = folder("SISKIN_DIST_DIR");
const NODE = join(dirname(DIST), "dist-node");
const EDGE = join(dirname(DIST), "dist-edge");
const BUNDLED = join(dirname(DIST), "dist-bundled");

/** Of a checksum in an address; as many as in `addressOf` of `src/load.ts`. */
const VERSION_DIGITS = 10;

const wasm = {
  search: { glue: "search/siskin_web.js", code: "search/siskin_web_bg.wasm" },
  encoder: { glue: "encoder/siskin_web_encoder.js", code: "encoder/siskin_web_encoder_bg.wasm" },
  tract: { glue: "tract/siskin_web_tract.js", code: "tract/siskin_web_tract_bg.wasm" },
};

const common = {
  bundle: true,
  format: "esm",
  minify: true,
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
  absWorkingDir: PACKAGE,
  alias: {
    "siskin-wasm/search": join(WASM, wasm.search.glue),
    "siskin-wasm/encoder": join(WASM, wasm.encoder.glue),
    "siskin-wasm/tract": join(WASM, wasm.tract.glue),
  },
  define: {
    SISKIN_SEARCH_WASM: JSON.stringify(entry(wasm.search.code)),
    SISKIN_ENCODER_WASM: JSON.stringify(entry(wasm.encoder.code)),
    SISKIN_TRACT_WASM: JSON.stringify(entry(wasm.tract.code)),
  },
};

/** Glue that is a script of its own, by the name that `src/glue.ts` knows it by. */
const LATER = { SISKIN_ENCODER_GLUE: wasm.encoder.glue, SISKIN_TRACT_GLUE: wasm.tract.glue };

/** What siskin-box.js gets from siskin.js instead of carrying it again; see `src/shared.ts`. */
const handedOver = {
  name: "handed-over",
  setup(build) {
    const path = join(PACKAGE, "src/handed-over.ts");
    build.onResolve(
      { filter: /\/(search-error|import-script|open|places|trusted|nodes)\.js$/ },
      () => ({
        path,
      }),
    );
  },
};

/** For edge runtimes: `siskin-wasm/NAME/code` is the wasm file, imported as it is, and `siskin-wasm/NAME/new` a function
 * that gives the glue with an instance of its own. */
const imported = {
  name: "imported",
  setup(build) {
    build.onResolve({ filter: /^siskin-wasm\/\w+\/code$/ }, ({ path }) => {
      const { code } = wasm[path.split("/")[1]];
      return { path: `./${fileName(code)}`, external: true };
    });
    build.onResolve({ filter: /^siskin-wasm\/\w+\/new$/ }, ({ path }) => ({
      path: join(WASM, wasm[path.split("/")[1]].glue),
      namespace: "new",
    }));
    build.onLoad({ filter: /./, namespace: "new" }, async ({ path }) => ({
      contents: `export default () => { ${await glueInFunction(path)} return glue; };`,
    }));
  },
};

mkdirSync(DIST, { recursive: true });
for (const { code } of Object.values(wasm)) {
  copyFileSync(join(WASM, code), join(DIST, fileName(code)));
}
await browserFiles();
await pagefind();
await nodeFiles();
await edgeFiles();
await bundledFiles();
declarations();

/** The worker names the network's glue by its checksum; `siskin.js` names the small module by its
 * own, and the scripts by one of all. */
async function browserFiles() {
  const later = {};
  for (const [name, glue] of Object.entries(LATER)) {
    const path = join(DIST, fileName(glue));
    await bundle(join(WASM, glue), path);
    later[name] = JSON.stringify(entryAt(path));
  }
  const define = { ...common.define, ...later };
  const parts = [join(DIST, "siskin-worker.js"), join(DIST, "siskin-box.js")];
  await bundle("src/worker.ts", parts[0], { define });
  await bundle("src/box.ts", parts[1], { plugins: [handedOver, cssAsText] });
  await page([...parts, ...(await words())]);
  await bundle("src/service-worker.ts", join(DIST, "siskin-sw.js"), { format: "iife" });
}

async function page(parts) {
  const code = join(WASM, wasm.search.code);
  const define = {
    SISKIN_VERSION: JSON.stringify(version(parts)),
    SISKIN_SEARCH_WASM: JSON.stringify(`${fileName(code)}?v=${version([code])}`),
  };
  await bundle("src/siskin.ts", join(DIST, "siskin.js"), { define, plugins: [cssAsText] });
}

/** One script for each language but English, which the box has. */
async function words() {
  const folder = join(PACKAGE, "src/ui/words");
  const languages = readdirSync(folder).map((name) => name.replace(".ts", ""));
  const paths = [];
  for (const language of languages.filter((name) => name !== "en").sort()) {
    const path = join(DIST, `siskin-words-${language}.js`);
    await bundle(join(folder, `${language}.ts`), path);
    paths.push(path);
  }
  return paths;
}

/** In place of Pagefind's script. It holds the bundle's address, as seen from its own folder, once. */
async function pagefind() {
  const file = join(DIST, "pagefind.js");
  const address = JSON.stringify("../siskin/");
  await bundle("src/pagefind.ts", file, { define: { SISKIN_BUNDLE: address } });
  const count = readFileSync(file, "utf8").split(address).length - 1;
  if (count !== 1) throw new Error(`${file} holds ${address} ${count} times, not once`);
}

/** The glue stays apart, so that it can be imported anew after a trap. */
async function nodeFiles() {
  const platform = "node";
  await bundle("src/node/node.ts", join(NODE, "siskin-node.js"), { platform });
  await bundle("src/node/glue.ts", join(NODE, "siskin-node-glue.js"), { platform });
  const banner = { js: "#!/usr/bin/env node" };
  await bundle("src/node/bin.ts", join(NODE, "siskin-command.js"), { platform, banner });
  writeFileSync(join(NODE, "package.json"), '{ "type": "module" }\n');
}

/** The wasm files are modules of a worker's there, which imports them compiled. */
async function edgeFiles() {
  await bundle("src/edge/edge.ts", join(EDGE, "siskin-edge.js"), { plugins: [imported] });
  for (const { code } of [wasm.search, wasm.encoder]) {
    copyFileSync(join(WASM, code), join(EDGE, fileName(code)));
  }
  writeFileSync(join(EDGE, "package.json"), '{ "type": "module" }\n');
}

/** Statements that set `glue`. */
async function glueInFunction(path) {
  // Read only where no code is given.
  const define = { "import.meta.url": "undefined" };
  const options = { format: "iife", globalName: "glue", define, write: false };
  const { outputFiles } = await bundle(path, undefined, options);
  return outputFiles[0].text;
}

/** As they are written: bundlers read the comments in them, and make them small. */
async function bundledFiles() {
  for (const [entryPoint, name] of [
    ["src/bundled.ts", "siskin.js"],
    ["src/bundled-box.ts", "siskin-box.js"],
  ]) {
    await bundle(entryPoint, join(BUNDLED, name), { minify: false });
  }
}

function bundle(entryPoint, outfile, options = {}) {
  return build({ ...common, entryPoints: [entryPoint], outfile, ...options });
}

/** One file of types for each entry: its public modules one after the other, without their imports. */
function declarations() {
  const out = mkdtempSync(join(tmpdir(), "siskin-types-"));
  const tsc = join(PACKAGE, "node_modules/typescript/bin/tsc");
  const options = ["--noEmit", "false", "--declaration", "--emitDeclarationOnly"];
  const places = [
    "--outDir",
    out,
    "--rootDir",
    join(PACKAGE, "src"),
    "--project",
    "tsconfig.build.json",
  ];
  execFileSync(process.execPath, [tsc, ...options, ...places], { cwd: PACKAGE, stdio: "inherit" });
  const node = ["node/index-error", "node/source-files", "node/indexing", "node/node"];
  for (const [file, modules] of [
    [join(DIST, "siskin.d.ts"), ["api", "search-error", "open", "ui/element"]],
    [join(NODE, "siskin-node.d.ts"), ["api", "search-error", ...node]],
    [join(EDGE, "siskin-edge.d.ts"), ["api", "search-error", "edge/edge"]],
    [join(BUNDLED, "siskin.d.ts"), ["api", "search-error", "bundled"]],
  ]) {
    const parts = modules.map((name) => readFileSync(join(out, `${name}.d.ts`), "utf8"));
    const imports = /^(import|export) (type )?\{?[^;{}]*\}? from "[^"]*";\n/gm;
    writeFileSync(file, parts.map((part) => part.replace(imports, "")).join("\n"));
  }
  writeFileSync(join(BUNDLED, "siskin-box.d.ts"), "export {};\n");
  rmSync(out, { recursive: true });
}

function entry(path) {
  return entryAt(join(WASM, path));
}

/** A file as `loadFile` wants it. */
function entryAt(path) {
  const bytes = readFileSync(path).length;
  return { path: fileName(path), bytes, sha256: checksum(path) };
}

/** Of one file or several, for an address. */
function version(paths) {
  return checksum(...paths).slice(0, VERSION_DIGITS);
}

function checksum(...paths) {
  const hash = createHash("sha256");
  for (const path of paths) hash.update(readFileSync(path));
  return hash.digest("hex");
}

function fileName(path) {
  return path.slice(path.lastIndexOf("/") + 1);
}

function folder(variable) {
  const path = process.env[variable];
  if (!path) throw new Error(`${variable} is not set; see the head of scripts/build.js`);
  return resolve(path);
}
