// Asks a Pagefind index, by its own script, outside a browser.
//
//     node --input-type=module --eval SCRIPT FOLDER LIMIT < questions.json > rankings.json
//
// FOLDER holds pagefind.js and what belongs to it; questions.json is an array of texts. In the answer
// `rankings` has per text the addresses of the pages found, best first, and `language` the one of which
// pages were searched, or null where the index has no other.
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
  return new Response(await contentOf(address));
};
// It tells of its progress, and the answer alone may be printed.
for (const level of ["log", "info", "warn"]) console[level] = () => {};

async function contentOf(file) {
  try {
    return await readFile(file);
  } catch (error) {
    throw new Error(`${error.message}; run pagefind again`);
  }
}

/** What the script may take before the first question, and for each, in milliseconds. */
const PATIENCE_MS = { first: 60_000, each: 1000 };

/** The script searches pages in one language, that of most of them. */
async function onlyLanguage() {
  const { languages } = JSON.parse(await contentOf(join(folder, "pagefind-entry.json")));
  const counted = Object.entries(languages).sort(([, a], [, b]) => b.page_count - a.page_count);
  return counted.length > 1 ? counted[0][0] : null;
}

function end(stream, text, code) {
  // Timers of the script may still run.
  stream.write(text, () => process.exit(code));
}

async function asked(pagefind, question) {
  const { results } = await pagefind.search(question);
  const data = results.slice(0, Number(limit)).map((result) => result.data());
  return (await Promise.all(data)).map(({ url }) => url);
}

try {
  const questions = JSON.parse(await text(process.stdin));
  const patience_ms = PATIENCE_MS.first + PATIENCE_MS.each * questions.length;
  setTimeout(() => end(process.stderr, "its script does not answer", 1), patience_ms).unref();
  // Imported as text: a folder without package.json would make it CommonJS.
  const script = (await contentOf(join(folder, "pagefind.js"))).toString("base64");
  const pagefind = await import(`data:text/javascript;base64,${script}`);
  await pagefind.options({ basePath: base, baseUrl: "/" });
  const rankings = [];
  for (const question of questions) rankings.push(await asked(pagefind, question));
  end(process.stdout, JSON.stringify({ language: await onlyLanguage(), rankings }), 0);
} catch (error) {
  end(process.stderr, String(error?.message ?? error).slice(0, 300), 1);
}
