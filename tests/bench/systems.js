/** The searches that are compared: how each is built and what its page loads. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const HERE = dirname(fileURLToPath(import.meta.url));

/** V8's own limit would end the larger builds earlier. */
const NODE = [process.execPath, "--max-old-space-size=6144"];

function library(name, packageName = name) {
  return {
    version: () => packageVersion(packageName),
    command: (site, out) => [...NODE, join(HERE, "build.js"), name, site, out],
  };
}

/** `command(site, out)` is a command line that reads the site and writes the index to `out`; Siskin's
 * also says where encoded passages are kept. */
export const SYSTEMS = {
  siskin: {
    version: checkout,
    command: (site, out, passages) => [
      needed("SISKIN_BINARY"),
      "index",
      site,
      "--output",
      out,
      "--encoder",
      needed("SISKIN_ENCODER_DIR"),
      "--runtime",
      needed("SISKIN_DIST_DIR"),
      "--cache",
      passages,
    ],
  },
  pagefind: {
    version: () => packageVersion("pagefind"),
    command: (site, out) => [
      process.execPath,
      join(HERE, "node_modules/pagefind/lib/runner/bin.cjs"),
      "--site",
      site,
      "--output-path",
      out,
    ],
  },
  minisearch: library("minisearch"),
  orama: library("orama", "@orama/orama"),
  lunr: library("lunr"),
};

function checkout() {
  const command = ["rev-parse", "--short", "HEAD"];
  return `at ${execFileSync("git", command, { cwd: HERE, encoding: "utf8" }).trim()}`;
}

function packageVersion(name) {
  const { dependencies } = JSON.parse(readFileSync(join(HERE, "package.json"), "utf8"));
  return dependencies[name];
}

function needed(variable) {
  const value = process.env[variable];
  if (!value) throw new Error(`${variable} is not set; cargo xtask bench sets it`);
  return value;
}
