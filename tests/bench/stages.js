/** What the first stage costs in quality: nDCG@10 on dev questions by the number of shards of codes
 * whose pages it passes on, up to all of them.
 *
 *     node stages.js --bundle FOLDER --pages SITE.pages.json --beir FOLDER/docs-X-anchors
 *                    --node FOLDER [--mode table] [--shards 6,8,10,12]
 *
 * --bundle is an index, --pages the map from addresses to ids that bench.js writes beside a rendered
 * site, --node the folder dist-node of `cargo xtask dist`. Prints a table as Markdown. */
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { mean, ndcg } from "./numbers.js";
import { devQuestions, pageAddress } from "./quality.js";

const DEPTH = 10;
const MANIFEST = "siskin.json";

const { values: options } = parseArgs({
  options: {
    bundle: { type: "string" },
    pages: { type: "string" },
    beir: { type: "string" },
    node: { type: "string" },
    mode: { type: "string", default: "table" },
    shards: { type: "string", default: "6,8,10,12" },
  },
});

function print(line) {
  process.stdout.write(`${line}\n`);
}

/** A folder with the bundle's files whose manifest passes on the pages of so many shards. */
function withShards(count) {
  const folder = mkdtempSync(join(tmpdir(), "siskin-stages-"));
  for (const name of readdirSync(options.bundle)) {
    if (name !== MANIFEST) symlinkSync(resolve(options.bundle, name), join(folder, name));
  }
  const manifest = JSON.parse(readFileSync(join(options.bundle, MANIFEST), "utf8"));
  manifest.ranking.code_shards = count;
  manifest.ranking.code_shards_in_full = count;
  writeFileSync(join(folder, MANIFEST), JSON.stringify(manifest));
  return folder;
}

async function measured(questions, pages, count) {
  const folder = withShards(count);
  try {
    const { open } = await import(pathToFileURL(resolve(options.node, "siskin-node.js")));
    const search = await open(folder);
    const scores = [];
    for (const { text, gains } of questions) {
      const { results } = await search.query(text, { mode: options.mode, limit: DEPTH });
      scores.push(
        ndcg(
          results.map(({ url }) => pages[pageAddress(url)]),
          gains,
          DEPTH,
        ),
      );
    }
    search.close();
    return scores;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const pages = JSON.parse(readFileSync(options.pages, "utf8"));
const questions = devQuestions(options.beir);
const all = Object.keys(pages).length;
const whole = await measured(questions, pages, all);
const row = (name, scores) => {
  const value = (100 * mean(scores)).toFixed(1);
  const loss = (100 * (mean(whole) - mean(scores))).toFixed(2);
  print(`| ${name} | ${value} | ${loss} |`);
};
print(`${questions.length} questions, ${all} pages, mode ${options.mode}\n`);
print("| shards of codes | nDCG@10 | lost |\n|---:|---:|---:|");
for (const count of options.shards.split(",").map(Number)) {
  row(count, await measured(questions, pages, count));
}
row("all", whole);
