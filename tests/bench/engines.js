/** The two engines with each network in real browsers: bytes, time to be ready, latency and memory.
 *
 * `node tests/bench/engines.js [WASM [ENCODER...]]`; WASM: what `cargo xtask dist` leaves in
 * `target/wasm-modules`; ENCODER: folders of encoders, by default all that are released. SISKIN_CHROME and SISKIN_FIREFOX name the browsers; a browser that is not
 * there is left out. The page measures itself and posts what it found, so no driver is needed.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { basename, dirname, extname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants } from "node:zlib";

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const MODELS = join(ROOT, "models");
const [wasm = join(ROOT, "target/wasm-modules"), ...given] = process.argv.slice(2);
const released = () => readdirSync(MODELS).map((name) => join(MODELS, name));
/** Folders of encoders by name. */
const encoders = Object.fromEntries(
  (given.length > 0 ? given : released()).map((folder) => [basename(folder), folder]),
);
const ENCODER_FILES = ["encoder.json", "tokenizer.json", "model.onnx"];

const ENGINES = {
  tract: "tract/siskin_web_tract",
  lean: "encoder/siskin_web_encoder",
};

const BROWSERS = {
  Chromium: {
    path: process.env.SISKIN_CHROME ?? "/usr/bin/chromium",
    arguments: (profile) => [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      `--user-data-dir=${profile}`,
    ],
  },
  Firefox: {
    path: process.env.SISKIN_FIREFOX ?? "/usr/bin/firefox-esr",
    arguments: (profile) => ["--headless", "--no-remote", "--profile", profile],
  },
};

const PATIENCE_MS = 300_000;

const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".wasm": "application/wasm",
};

/** Runs in the page: everything but the download is in `load_ms`. */
const PAGE = `<!doctype html><meta charset="utf-8"><title>engines</title><script type="module">
const RUNS = 15;
/** Short texts that are timed together: browsers tell time in tenths of a millisecond, or in whole ones. */
const TOGETHER = 40;
/** By then browsers have compiled what runs often for speed. */
const WARM_UP_MS = 300;
const fetched = async (path) => new Uint8Array(await (await fetch(path)).arrayBuffer());
const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];
try {
  const asked = new URLSearchParams(location.search);
  const stem = asked.get("stem");
  const folder = "/encoder/" + asked.get("encoder") + "/";
  const code = await fetched("/wasm/" + stem + "_bg.wasm");
  const files = await Promise.all(${JSON.stringify(ENCODER_FILES)}.map((name) => fetched(folder + name)));
  const glue = await import("/wasm/" + stem + ".js");
  const begin = performance.now();
  const { memory } = await glue.default({ module_or_path: await WebAssembly.compile(code) });
  const encoder = new glue.QueryEncoder(...files);
  const result = { load_ms: performance.now() - begin };
  // Four words and [CLS], [SEP], then two more; and as many words as fit.
  const words = "posting lists are bit packed ".repeat(40).split(" ");
  for (const pieces of [8, 128]) {
    const text = words.slice(0, pieces - 2).join(" ");
    for (const warm = performance.now(); performance.now() - warm < WARM_UP_MS; ) encoder.encode(text);
    const times = [];
    const count = pieces === 8 ? TOGETHER : 1;
    for (let run = 0; run < RUNS; run++) {
      const started = performance.now();
      for (let number = 0; number < count; number++) encoder.encode(text);
      times.push((performance.now() - started) / count);
    }
    result["median_" + pieces + "_ms"] = median(times);
  }
  result.memory_bytes = memory.buffer.byteLength;
  await fetch("/result", { method: "POST", body: JSON.stringify(result) });
} catch (error) {
  await fetch("/result", { method: "POST", body: JSON.stringify({ error: String(error) }) });
}
</script>`;

/** Serves the page, the modules and the encoder; `next()` is what the page posts next. */
function serve() {
  let report;
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, "http://localhost");
    if (request.method === "POST") return receive(request, response, (result) => report(result));
    const content = find(pathname);
    response.writeHead(content === undefined ? 404 : 200, {
      "content-type": TYPES[extname(pathname)] ?? "application/octet-stream",
    });
    response.end(content);
  });
  const next = () => new Promise((resolve) => (report = resolve));
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve({ server, next }));
  });
}

function find(pathname) {
  if (pathname === "/index.html") return PAGE;
  const [, kind, ...rest] = pathname.split("/");
  const root = kind === "encoder" ? encoders[rest.shift()] : { wasm }[kind];
  if (root === undefined || rest.includes("..") || !existsSync(join(root, ...rest))) return;
  return readFileSync(join(root, ...rest));
}

function receive(request, response, report) {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    response.end();
    report(JSON.parse(Buffer.concat(chunks).toString()));
  });
}

/** One engine with one network in a fresh browser. */
async function measure({ server, next }, browser, stem, encoder) {
  const profile = mkdtempSync(join(tmpdir(), "siskin-engines-"));
  const address = `http://127.0.0.1:${server.address().port}/index.html?stem=${stem}&encoder=${encoder}`;
  const child = spawn(browser.path, [...browser.arguments(profile), address], { stdio: "ignore" });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  let timer;
  const late = new Promise((_, reject) => {
    const fail = () => reject(new Error(`no result within ${PATIENCE_MS / 1000} s`));
    timer = setTimeout(fail, PATIENCE_MS);
  });
  try {
    const result = await Promise.race([next(), late]);
    if (result.error !== undefined) throw new Error(result.error);
    return result;
  } finally {
    clearTimeout(timer);
    child.kill();
    await ended;
    // Parts of the browser outlive it for a moment and still write; what is left is the system's to tidy.
    await rm(profile, { recursive: true, force: true, maxRetries: 20 }).catch(() => {});
  }
}

function brotliBytes(path) {
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
  return brotliCompressSync(readFileSync(path), { params }).length;
}

/** What a page fetches of an encoder: hosts compress JSON and leave other files as they are. */
function servedBytes(folder) {
  const sizes = ENCODER_FILES.map((name) => {
    const path = join(folder, name);
    return name.endsWith(".json") ? brotliBytes(path) : readFileSync(path).length;
  });
  return sizes.reduce((sum, size) => sum + size, 0);
}

function row(cells) {
  process.stdout.write(`| ${cells.join(" | ")} |\n`);
}

const served = await serve();
const HEAD = ["browser", "encoder", "download", "engine", "module, brotli"];
row([...HEAD, "load to ready", "8 tokens", "128 tokens", "memory"]);
row(Array(HEAD.length + 4).fill("---"));
for (const [name, browser] of Object.entries(BROWSERS)) {
  if (!existsSync(browser.path)) {
    process.stderr.write(`${name}: no ${browser.path}, left out\n`);
    continue;
  }
  for (const [encoder, folder] of Object.entries(encoders)) {
    for (const [engine, stem] of Object.entries(ENGINES)) {
      const result = await measure(served, browser, stem, encoder);
      row([
        name,
        encoder,
        `${(servedBytes(folder) / 1e6).toFixed(2)} MB`,
        engine,
        `${(brotliBytes(join(wasm, `${stem}_bg.wasm`)) / 1000).toFixed(0)} KB`,
        `${result.load_ms.toFixed(0)} ms`,
        `${result.median_8_ms.toFixed(2)} ms`,
        `${result.median_128_ms.toFixed(0)} ms`,
        `${(result.memory_bytes / 1e6).toFixed(1)} MB`,
      ]);
    }
  }
}
served.server.close();
