/** Bundles the TypeScript tests in a folder and runs them: `node scripts/test.js FOLDER [FILTER]`. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { cssAsText } from "./css.js";

const PACKAGE = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const [folder, filter = ""] = process.argv.slice(2);
const source = resolve(PACKAGE, folder);
// Below node_modules, so that the tests find the packages that are not bundled.
const out = join(PACKAGE, "node_modules/.cache/siskin-tests", folder.replaceAll(/\W/g, "_"));

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
const tests = readdirSync(source).filter(
  (name) => name.endsWith(".test.ts") && name.includes(filter),
);
if (tests.length === 0) throw new Error(`no *${filter}*.test.ts in ${source}`);
await build({
  entryPoints: tests.map((name) => join(source, name)),
  outdir: out,
  outExtension: { ".js": ".mjs" },
  absWorkingDir: PACKAGE,
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20",
  sourcemap: "inline",
  external: ["playwright-core", "selenium-webdriver", "pixelmatch", "pngjs", "esbuild"],
  plugins: [cssAsText],
});
const files = readdirSync(out).map((name) => join(out, name));
// One file at a time: they share a slow machine, and some measure.
const limits = ["--test-concurrency=1", "--test-timeout=300000"];
const args = ["--enable-source-maps", "--test", ...limits, ...files];
const env = { ...process.env, SISKIN_REPOSITORY: dirname(PACKAGE) };
process.exit(spawnSync(process.execPath, args, { stdio: "inherit", env }).status ?? 1);
