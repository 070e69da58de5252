import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import type { Progress } from "../../src/api.js";
import { Engine, type Environment } from "../../src/engine.js";
import type { Modules } from "../../src/modules.js";
import { bytes, serve, status } from "./server.js";

/** The smallest valid wasm file: the loading is real, the modules' classes are stand-ins. */
const EMPTY_WASM = new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);

const FULL = { text: "question", mode: "full", limit: 1 } as const;
const TABLE = { ...FULL, mode: "table" } as const;

function checksum(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

function file(path: string, content: string | Uint8Array) {
  return { path, bytes: content.length, sha256: checksum(content) };
}

const ENCODER_JSON = JSON.stringify({
  files: { "tokenizer.json": file("", "tokens"), "model.onnx": file("", "model") },
});

const SITE = {
  "/siskin.json": [
    bytes(
      JSON.stringify({
        files: [file("a.bin", "aa"), file("b.bin", "bbb")],
        encoder: { id: checksum(ENCODER_JSON) },
      }),
    ),
  ],
  "/a.bin": [bytes("aa")],
  "/b.bin": [bytes("bbb")],
  "/search.wasm": [bytes(EMPTY_WASM)],
  "/network.wasm": [bytes(EMPTY_WASM)],
  "/encoder/encoder.json": [bytes(ENCODER_JSON)],
  "/encoder/tokenizer.json": [bytes("tokens")],
  "/encoder/model.onnx": [bytes("model")],
};

/** Modules that note what they are given; `search` is what a query calls. */
function standIns(search: () => never[] = () => []) {
  const seen: Record<string, string> = {};
  const text = (content: Uint8Array) => new TextDecoder().decode(content);
  class SearchLoader {
    add_file(path: string, content: Uint8Array) {
      seen[path] = text(content);
    }
    open() {
      return { search, search_encoded: search, free() {} };
    }
  }
  class QueryEncoder {
    constructor(...contents: Uint8Array[]) {
      seen.network = contents.map(text).join(" ");
    }
    encode() {
      return { buckets: [], dense: [] };
    }
    free() {}
  }
  const modules: Modules = {
    search: { file: file("search.wasm", EMPTY_WASM), start: async () => ({ SearchLoader }) },
    encoder: { file: file("network.wasm", EMPTY_WASM), start: async () => ({ QueryEncoder }) },
  };
  return { seen, modules };
}

async function withSite(
  site: Parameters<typeof serve>[0],
  modules: Modules,
  body: (environment: Environment, progress: Progress[], log: string[]) => Promise<void>,
): Promise<void> {
  const server = await serve(site);
  const progress: Progress[] = [];
  const environment: Environment = {
    source: { fetcher: (url, init) => fetch(url, init) },
    modules,
    runtime: server.url,
    bundle: server.url,
    now: () => performance.now(),
    report: (step) => progress.push(step),
  };
  try {
    await body(environment, progress, server.log);
  } finally {
    await server.close();
  }
}

test("opening hands every file over by its path and fetches nothing of the network", async () => {
  const { seen, modules } = standIns();
  await withSite(SITE, modules, async (environment, progress, log) => {
    const engine = await Engine.open(environment);
    assert.deepEqual(seen, { "a.bin": "aa", "b.bin": "bbb" });
    assert.deepEqual(progress.at(-1), { stage: "index", loaded_bytes: 5, total_bytes: 5 });
    assert.ok(!log.some((path) => path.includes("encoder") || path.includes("network")));
    const answer = await engine.query(TABLE);
    assert.deepEqual(
      { ...answer, took_ms: 0 },
      {
        query: "question",
        mode: "table",
        took_ms: 0,
        results: [],
      },
    );
  });
});

test("the network is fetched at the first full query, once", async () => {
  const { seen, modules } = standIns();
  await withSite(SITE, modules, async (environment, _, log) => {
    const engine = await Engine.open(environment);
    await Promise.all([engine.query(FULL), engine.query(FULL)]);
    await engine.query(FULL);
    assert.equal(seen.network, `${ENCODER_JSON} tokens model`);
    assert.equal(log.filter((path) => path === "/encoder/model.onnx").length, 1);
  });
});

test("a failed download of the network is forgotten", async () => {
  const { modules } = standIns();
  const model = [status(503), status(503), bytes("model")];
  const site = { ...SITE, "/encoder/model.onnx": model };
  await withSite(site, modules, async (environment) => {
    const engine = await Engine.open(environment);
    await assert.rejects(engine.query(FULL), { code: "network" });
    assert.equal((await engine.query(TABLE)).mode, "table");
    assert.equal((await engine.query(FULL)).mode, "full");
  });
});

test("a network that does not belong to the index is refused", async () => {
  const { modules } = standIns();
  const site = { ...SITE, "/encoder/encoder.json": [bytes("{}")] };
  await withSite(site, modules, async (environment) => {
    const engine = await Engine.open(environment);
    await assert.rejects(engine.query(FULL), { code: "corrupt", message: /encoder\.json/ });
  });
});

test("a typed error of a query leaves the engine as it is", async () => {
  const { modules } = standIns(() => {
    throw { code: "query", message: "the query is empty" };
  });
  await withSite(SITE, modules, async (environment) => {
    const engine = await Engine.open(environment);
    await assert.rejects(engine.query(TABLE), { code: "query", message: "the query is empty" });
    assert.equal(engine.failure, undefined);
  });
});

test("a text that cannot be asked does not fetch the network", async () => {
  const { modules } = standIns(() => {
    throw { code: "query", message: "the query is empty" };
  });
  await withSite(SITE, modules, async (environment, _, log) => {
    const engine = await Engine.open(environment);
    await assert.rejects(engine.query(FULL), { code: "query", message: "the query is empty" });
    assert.ok(!log.some((path) => path.includes("encoder") || path.includes("network")));
  });
});

test("after a trap the engine answers with `internal` and wasm is not called again", async () => {
  let calls = 0;
  const { modules } = standIns(() => {
    calls += 1;
    throw new WebAssembly.RuntimeError("unreachable");
  });
  await withSite(SITE, modules, async (environment) => {
    const engine = await Engine.open(environment);
    await assert.rejects(engine.query(TABLE), { code: "internal", message: /unreachable/ });
    await assert.rejects(engine.query(TABLE), { code: "internal" });
    assert.equal(calls, 1);
    engine.close();
  });
});

test("a missing file of the index stops the opening, and the next opening works", async () => {
  const { modules } = standIns();
  const site = { ...SITE, "/b.bin": [status(404), status(404), bytes("bbb")] };
  await withSite(site, modules, async (environment) => {
    await assert.rejects(Engine.open(environment), { code: "network", message: /b\.bin.*404/ });
    await Engine.open(environment);
  });
});
