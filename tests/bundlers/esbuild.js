/** `node esbuild.js PAGE OUT`: the page as esbuild builds it. */
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const [page, out] = process.argv.slice(2);
const entryPoints = [join(page, "page.js")];
await build({ entryPoints, outdir: out, bundle: true, minify: true, format: "esm" });
copyFileSync(join(page, "index.html"), join(out, "index.html"));
