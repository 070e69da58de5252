/** `node webpack.js PAGE OUT`: the page as webpack builds it. */
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import webpack from "webpack";

const [context, path] = process.argv.slice(2);
const stats = await promisify(webpack)({
  mode: "production",
  context,
  entry: "./page.js",
  experiments: { outputModule: true },
  output: { path, filename: "page.js", module: true },
});
if (stats.hasErrors() || stats.hasWarnings()) throw new Error(stats.toString("errors-warnings"));
copyFileSync(join(context, "index.html"), join(path, "index.html"));
