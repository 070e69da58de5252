/** Builds the runtime files that a bundle carries, and the Node entry.
 *
 * SISKIN_WASM_DIR: folder with `search/siskin_web{.js,_bg.wasm}`,
 *   `encoder/siskin_web_encoder{.js,_bg.wasm}` and `tract/siskin_web_tract{.js,_bg.wasm}`, written by
 *   `wasm-bindgen --target web`.
 * SISKIN_DIST_DIR: output folder; the Node entry goes to its sibling `dist-node`.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const PACKAGE = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const WASM = folder("SISKIN_WASM_DIR");
const DIST = folder("SISKIN_DIST_DIR");
const NODE = join(dirname(DIST), "dist-node");

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

mkdirSync(DIST, { recursive: true });
for (const { code } of Object.values(wasm)) {
  copyFileSync(join(WASM, code), join(DIST, fileName(code)));
}
await browserFiles();
await nodeFiles();
declarations();

/** The worker first: `siskin.js` names it with its checksum. */
async function browserFiles() {
  await bundle("src/worker.ts", join(DIST, "siskin-worker.js"));
  const version = checksum(join(DIST, "siskin-worker.js")).slice(0, 16);
  const worker = JSON.stringify(`siskin-worker.js?v=${version}`);
  const define = { ...common.define, SISKIN_WORKER: worker };
  await bundle("src/siskin.ts", join(DIST, "siskin.js"), { define });
  await bundle("src/service-worker.ts", join(DIST, "siskin-sw.js"), { format: "iife" });
}

/** The glue stays apart, so that it can be imported anew after a trap. */
async function nodeFiles() {
  await bundle("src/node.ts", join(NODE, "siskin-node.js"), { platform: "node" });
  await bundle("src/glue.ts", join(NODE, "siskin-node-glue.js"), { platform: "node" });
  writeFileSync(join(NODE, "package.json"), '{ "type": "module" }\n');
}

function bundle(entryPoint, outfile, options = {}) {
  return build({ ...common, entryPoints: [entryPoint], outfile, ...options });
}

/** One file of types: the public modules one after the other, without their imports. */
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
  const parts = ["api", "errors", "open", "ui/element"].map((name) =>
    readFileSync(join(out, `${name}.d.ts`), "utf8").replace(/^import .*;\n/gm, ""),
  );
  writeFileSync(join(DIST, "siskin.d.ts"), parts.join("\n"));
  rmSync(out, { recursive: true });
}

function entry(path) {
  const bytes = readFileSync(join(WASM, path)).length;
  return { path: fileName(path), bytes, sha256: checksum(join(WASM, path)) };
}

function checksum(path) {
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}

function fileName(path) {
  return path.slice(path.lastIndexOf("/") + 1);
}

function folder(variable) {
  const path = process.env[variable];
  if (!path) throw new Error(`${variable} is not set; see the head of scripts/build.js`);
  return resolve(path);
}
