import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { compressFolder } from "../files.js";
import { median, ndcg, quantile, sample } from "../numbers.js";
import { address, readPage } from "../pages.js";
import { pageAddress } from "../quality.js";
import { kilobytes, report, seconds } from "../report.js";
import { HEADER_BYTES, Server } from "../server.js";
import { HERE } from "../systems.js";

test("quantiles are values that were measured", () => {
  const values = Array.from({ length: 20 }, (_, at) => 20 - at);
  assert.equal(quantile(values, 0.95), 19);
  assert.equal(median(values), 10);
  assert.equal(median([3]), 3);
  assert.equal(median([]), undefined);
});

test("nDCG: first place is 1, third place a half, a page counts once", () => {
  const gains = new Map([["a", 1]]);
  assert.equal(ndcg(["a", "b"], gains), 1);
  assert.equal(ndcg(["b", "c", "a"], gains), 0.5);
  assert.equal(ndcg(["b", "b", "a"], gains), 1 / Math.log2(3));
  assert.equal(ndcg([...Array(10).keys(), "a"], gains), 0);
  const two = new Map([
    ["a", 1],
    ["b", 1],
  ]);
  assert.ok(ndcg(["a", "c", "b"], two) < 1);
});

test("a sample depends on its seed alone and keeps the order", () => {
  const values = Array.from({ length: 1000 }, (_, at) => at);
  const chosen = sample(values, 300, 7);
  assert.deepEqual(chosen, sample(values, 300, 7));
  assert.notDeepEqual(chosen, sample(values, 300, 8));
  assert.equal(new Set(chosen).size, 300);
  assert.deepEqual(
    chosen,
    [...chosen].sort((a, b) => a - b),
  );
  assert.deepEqual(sample([1, 2], 300, 7), [1, 2]);
});

test("a page's text is what a reader sees in it", () => {
  const html = `<!doctype html><html><head><title>A &amp; B</title></head><body><nav>Home</nav><main>
<h1>A <code>B</code></h1><script>no()</script><p>one<br>two<b>three</b></p></main></body></html>`;
  assert.deepEqual(readPage(html), { title: "A & B", headings: "A B", text: "A B one twothree" });
});

test("addresses of files and of results meet", () => {
  assert.equal(address("index.html"), "/");
  assert.equal(address("web/api/index.html"), "/web/api/");
  assert.equal(address("ch01.html"), "/ch01.html");
  assert.equal(pageAddress("/web/api/#x"), "/web/api/");
  assert.equal(pageAddress("http://localhost:1/web/api/index.html?a#x"), "/web/api/");
});

test("the server counts bodies as sent, packed and not", async (context) => {
  const base = mkdtempSync(join(tmpdir(), "siskin-bench-"));
  const place = { root: join(base, "root"), copies: join(base, "br") };
  mkdirSync(join(place.root, "index"), { recursive: true });
  writeFileSync(join(place.root, "index/a.json"), "a".repeat(5000));
  writeFileSync(join(place.root, "index/a.bin"), "a".repeat(5000));
  const sizes = compressFolder(place, "index");
  assert.equal(sizes.files, 2);
  assert.equal(sizes.raw_bytes, 10_000);
  assert.ok(sizes.served_bytes > 5000 && sizes.served_bytes < 5100, String(sizes.served_bytes));
  const server = await new Server(place.root, place.copies).start();
  context.after(() => server.stop());
  const headers = { "accept-encoding": "br" };
  const get = async (path) => (await fetch(server.origin + path, { headers })).text();
  assert.equal(await get("/index/a.json"), "a".repeat(5000));
  assert.equal(await get("/index/a.bin"), "a".repeat(5000));
  assert.deepEqual(server.take(), {
    requests: 2,
    body_bytes: sizes.served_bytes,
    header_bytes: 2 * HEADER_BYTES,
  });
  await get("/nothing");
  assert.deepEqual(server.missing, ["/nothing"]);
});

function cost(limit, ...command) {
  const path = join(mkdtempSync(join(tmpdir(), "siskin-bench-")), "cost.json");
  execFileSync("python3", [join(HERE, "measure.py"), path, limit, ...command]);
  return JSON.parse(readFileSync(path, "utf8"));
}

test("what a command costs is that of its children too", () => {
  const busy =
    "const end = Date.now() + 400; while (Date.now() < end); new Float64Array(4e7).fill(1)";
  const report = cost("60", "sh", "-c", `${process.execPath} -e '${busy}'`);
  assert.equal(report.status, "ok");
  assert.ok(report.cpu_s > 0.2, JSON.stringify(report));
  assert.ok(report.rss_bytes > 3e8, JSON.stringify(report));
});

test("a command that fails or takes too long is told apart", () => {
  const failed = cost("60", "sh", "-c", "echo 'RangeError: too long' >&2; echo more >&2; exit 3");
  assert.equal(failed.status, "exit code 3");
  assert.equal(failed.message, "RangeError: too long");
  const late = cost("0.5", "sh", "-c", "sleep 30; true");
  assert.equal(late.status, "timeout");
  assert.ok(late.wall_s < 20, String(late.wall_s));
});

test("sizes and times are read easily", () => {
  assert.equal(kilobytes(0), "0 KB");
  assert.equal(kilobytes(1234), "1.2 KB");
  assert.equal(kilobytes(594_422), "594 KB");
  assert.equal(kilobytes(8_912_896), "8.91 MB");
  assert.equal(kilobytes(123_456_789), "123 MB");
  assert.equal(seconds(1966), "1.97 s");
  assert.equal(seconds(19_660), "19.7 s");
});

test("the report says what was not run and why something failed", () => {
  const machine = { processor: "P", cores: 2, memory_bytes: 2 ** 30, node: "v20", chromium: "C" };
  const lunr = {
    date: "2026-01-02T00:00:00Z",
    version: "2.3.9",
    index: { failed: "timeout" },
    browser: { failed: "there is no index" },
  };
  const results = { machine, sites: { mdn: { pages: 14593, systems: { lunr } } } };
  const files = report(results, undefined);
  const text = files["benchmarks.md"];
  assert.match(text, /## MDN: 14,593 pages/);
  assert.match(text, /\| Siskin \| not run yet \|/);
  assert.match(text, /\| lunr \| failed¹ \|/);
  assert.match(text, /¹ lunr, index: timeout\./);
  assert.match(files["plots/first-question-mdn.svg"], /not run yet/);
});

test("one figure may fail and leave the others", () => {
  const machine = { processor: "P", cores: 2, memory_bytes: 2 ** 30, node: "v20", chromium: "C" };
  const sizes = { body_bytes: { median: 2e6, p95: 2e6, max: 2e6 }, requests: { median: 3 } };
  const orama = {
    date: "2026-01-02T00:00:00Z",
    version: "3",
    browser: { cold_keywords: sizes, first_result_slow_4g: { failed: "no answer within 240 s" } },
  };
  const later = { pages: 112, systems: { orama: { ...orama, version: "4" }, pagefind: orama } };
  const sites = { mdn: { pages: 14593, share: 1, systems: { orama, pagefind: orama } } };
  const files = report({ machine, sites }, { sites });
  const text = files["benchmarks.md"];
  assert.match(text, /\| Orama \| 2\.00 MB \| 3 \| not run yet /);
  assert.match(text, /\| Orama \| not run yet \| failed¹ \|/);
  assert.match(text, /Orama, first result slow 4g: no answer within 240 s\./);
  assert.match(text, /\| 14,593 \| Pagefind \| not run yet /);
  assert.match(files["plots/growth.svg"], /14,593 pages/);
  const all = report({ machine, sites: { ...sites, "rust-book": later } }, undefined);
  assert.match(all["benchmarks.md"], /Versions: Pagefind 3, Orama 4 and 3;/);
  assert.deepEqual(JSON.parse(files["scaling-data/mdn.json"]), { sites });
});
