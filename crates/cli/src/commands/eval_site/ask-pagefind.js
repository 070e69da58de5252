// Asks a Pagefind index, by its own script, outside a browser.
//
//     node --input-type=module --eval SCRIPT FOLDER LIMIT < questions.json > rankings.json
//
// FOLDER holds pagefind.js; questions.json is an array of texts, rankings.json per text the addresses of
// the pages found, best first.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";

const [folder, limit] = process.argv.slice(1);
const base = pathToFileURL(join(folder, "/")).href;

// What the script takes for granted: a page, in whichever language most pages are, whose files can be fetched.
globalThis.window = globalThis;
globalThis.location = new URL("http://localhost/");
globalThis.document = {
  currentScript: null,
  querySelector: () => ({ getAttribute: () => "" }),
};
globalThis.fetch = async (input) => {
  const address = new URL(String(input.url ?? input));
  address.search = "";
  if (!address.href.startsWith(base)) throw new Error(`${address} is not in ${folder}`);
  return new Response(await readFile(address));
};
// It tells of its progress, and the answer alone may be printed.
for (const level of ["log", "info", "warn"]) console[level] = () => {};

async function asked(pagefind, question) {
  const { results } = await pagefind.search(question);
  const data = results.slice(0, Number(limit)).map((result) => result.data());
  return (await Promise.all(data)).map(({ url }) => url);
}

try {
  const questions = JSON.parse(await text(process.stdin));
  // Imported as text: a folder without package.json would make it CommonJS.
  const script = await readFile(join(folder, "pagefind.js"), "base64");
  const pagefind = await import(`data:text/javascript;base64,${script}`);
  await pagefind.options({ basePath: base, baseUrl: "/" });
  const rankings = [];
  for (const question of questions) rankings.push(await asked(pagefind, question));
  process.stdout.write(JSON.stringify(rankings));
} catch (error) {
  process.stderr.write(String(error?.message ?? error).slice(0, 300));
  process.exitCode = 1;
}
