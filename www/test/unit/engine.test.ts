import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { constants, deflateRawSync } from "node:zlib";
import type { Progress } from "../../src/api.js";
import { Engine, type Environment } from "../../src/engine.js";
import type { Asked, Block, EncodedQuery, Modules } from "../../src/modules.js";
import { bytes, ranges, serve, status } from "./server.js";

const { Z_FULL_FLUSH } = constants;

/** The smallest valid wasm file: the loading is real, the modules' classes are stand-ins. */
const EMPTY_WASM = new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);

const FULL = { text: "question", mode: "full", first: 0, limit: 1, sections: 0 } as const;
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
  "/siskin.json": [bytes(JSON.stringify({ encoder: { id: checksum(ENCODER_JSON) } }))],
  "/a.bin": [bytes("SISK\u0002\u0000\u0001\u0000plain")],
  "/b.bin": [bytes(deflated("again and again"))],
  "/search.wasm": [bytes(EMPTY_WASM)],
  "/network.wasm": [bytes(EMPTY_WASM)],
  "/tract.wasm": [bytes(EMPTY_WASM)],
  "/encoder/encoder.json": [bytes(ENCODER_JSON)],
  "/encoder/tokenizer.json": [bytes("tokens")],
  "/encoder/model.onnx": [bytes("model")],
};

/** A shard whose payload is deflated. */
function deflated(text: string): Uint8Array {
  const header = [0x53, 0x49, 0x53, 0x4b, 2, 0, 5, 1];
  return new Uint8Array([...header, ...deflateRawSync(text)]);
}

const ANSWER: Asked = { needs: [], answer: { total: 0, results: [], suggestions: [], facets: [] } };

/** Modules that note what they are given; `search` is what a query calls. The stand-in needs
 * `a.bin`, then `b.bin`, and answers. */
function standIns(search?: () => Asked) {
  const seen: Record<string, string> = {};
  const text = (content: Uint8Array) => new TextDecoder().decode(content);
  const needy = (): Asked => {
    const missing = ["a.bin", "b.bin"].find((path) => seen[path] === undefined);
    return missing === undefined ? ANSWER : { needs: [{ path: missing, blocks: [] }] };
  };
  class SearchEngine {
    search = search ?? needy;
    files = () => ["a.bin", "b.bin"];
    add_file(path: string, content: Uint8Array, inflated?: Uint8Array) {
      if (text(content).includes("altered")) throw { code: "corrupt", message: `${path} altered` };
      seen[path] = inflated === undefined ? text(content.subarray(8)) : text(inflated);
    }
    add_block(page: number, content: Uint8Array, inflated: Uint8Array) {
      if (text(inflated) !== BLOCKS[page]) throw { code: "corrupt", message: "altered" };
      seen[`block ${page}`] = `${content.length} bytes`;
    }
    free() {}
  }
  class QueryEncoder {
    constructor(...contents: Uint8Array[]) {
      seen.network = contents.map(text).join(" ");
    }
    encode(): EncodedQuery {
      return [[], []];
    }
    free() {}
  }
  const modules: Modules = {
    search: { file: file("search.wasm", EMPTY_WASM), start: async () => ({ SearchEngine }) },
    encoder: { file: file("network.wasm", EMPTY_WASM), start: async () => ({ QueryEncoder }) },
    tract: { file: file("tract.wasm", EMPTY_WASM), start: async () => ({ QueryEncoder }) },
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

test("a query gets the shards that it needs, round by round, and nothing of the network", async () => {
  const { seen, modules } = standIns();
  await withSite(SITE, modules, async (environment, _, log) => {
    const engine = await Engine.open(environment);
    assert.deepEqual(seen, {});
    const answer = await engine.query(TABLE);
    assert.deepEqual(seen, { "a.bin": "plain", "b.bin": "again and again" });
    const expected = { query: "question", mode: "table", took_ms: 0, ...ANSWER.answer };
    assert.deepEqual({ ...answer, took_ms: 0 }, expected);
    await engine.query(TABLE);
    assert.equal(log.filter((path) => path === "/a.bin").length, 1);
    assert.ok(!log.some((path) => path.includes("encoder") || path.includes("network")));
  });
});

test("a network that the lean engine refuses is run by tract", async () => {
  const { seen, modules } = standIns();
  const refusing = class {
    constructor() {
      throw { code: "unsupported", message: "another network" };
    }
  };
  const start = async () => ({ QueryEncoder: refusing }) as never;
  const encoder = { ...modules.encoder, start };
  await withSite(SITE, { ...modules, encoder }, async (environment, _, log) => {
    const engine = await Engine.open(environment);
    await engine.query(FULL);
    assert.equal(seen.network, `${ENCODER_JSON} tokens model`);
    const fetched = log.filter((path) => /wasm|model/.test(path));
    assert.deepEqual(fetched.toSorted(), [
      "/encoder/model.onnx",
      "/network.wasm",
      "/search.wasm",
      "/tract.wasm",
    ]);
  });
});

test("a network that the lean engine runs does not fetch tract", async () => {
  const { modules } = standIns();
  await withSite(SITE, modules, async (environment, _, log) => {
    const engine = await Engine.open(environment);
    await engine.query(FULL);
    assert.ok(!log.includes("/tract.wasm"));
  });
});

test("prefetching fetches every file, whatever it holds", async () => {
  const { seen, modules } = standIns();
  await withSite(SITE, modules, async (environment, _, log) => {
    const engine = await Engine.open(environment);
    await engine.prefetch();
    const fetched = log.filter((path) => path.endsWith(".bin")).sort();
    assert.deepEqual(fetched, ["/a.bin", "/b.bin"]);
    assert.deepEqual(seen, {}, "they are checked when they are used");
  });
});

test("queries that need the same shard fetch it once", async () => {
  const { modules } = standIns();
  await withSite(SITE, modules, async (environment, _, log) => {
    const engine = await Engine.open(environment);
    await Promise.all([engine.query(TABLE), engine.query(TABLE)]);
    assert.equal(log.filter((path) => path === "/a.bin").length, 1);
  });
});

test("a shard that is altered or missing is asked for once more, then the query fails", async () => {
  const altered = bytes("SISK\u0002\u0000\u0001\u0000altered");
  const good = bytes("SISK\u0002\u0000\u0001\u0000plain");
  const { modules } = standIns();
  const once = { ...SITE, "/a.bin": [altered, good] };
  await withSite(once, modules, async (environment) => {
    const engine = await Engine.open(environment);
    assert.equal((await engine.query(TABLE)).results.length, 0);
  });
  for (const [bad, code] of [
    [altered, "corrupt"],
    [status(404), "network"],
  ] as const) {
    const { modules } = standIns();
    const site = { ...SITE, "/a.bin": [bad, bad, good] };
    await withSite(site, modules, async (environment) => {
      const engine = await Engine.open(environment);
      await assert.rejects(engine.query(TABLE), { code });
      assert.equal((await engine.query(TABLE)).results.length, 0, "a failure is forgotten");
    });
  }
});

test("a payload that cannot be inflated is refused by the module, not lost", async () => {
  const torn = deflated("again and again").subarray(0, 12);
  const { seen, modules } = standIns();
  const site = { ...SITE, "/b.bin": [bytes(torn)] };
  await withSite(site, modules, async (environment) => {
    const engine = await Engine.open(environment);
    await engine.query(TABLE);
    assert.equal(seen["b.bin"], "", "the module gets an empty payload, which no shard has");
  });
});

/** Texts of the blocks of `r.bin`. */
const BLOCKS = ["first", "second", "third"];

/** A shard of blocks, and where they are in it. */
function inBlocks(): { shard: Uint8Array; blocks: Block[] } {
  const parts = BLOCKS.map((text) => deflateRawSync(text, { finishFlush: Z_FULL_FLUSH }));
  const shard = Buffer.concat([deflated("").subarray(0, 8), ...parts, Buffer.of(3, 0)]);
  let end = 8;
  const blocks = parts.map((part, page) => {
    end += part.length;
    return { page, start: end - part.length, end };
  });
  return { shard, blocks };
}

/** A query needs the first and the last block. */
async function askForBlocks(answers: Parameters<typeof serve>[0][string]) {
  const { blocks } = inBlocks();
  const needs: Asked = { needs: [{ path: "r.bin", blocks: [blocks[0], blocks[2]] as Block[] }] };
  const { seen, modules } = standIns(() =>
    "r.bin" in seen || "block 2" in seen ? ANSWER : { ...needs },
  );
  let requests = 0;
  await withSite({ ...SITE, "/r.bin": answers }, modules, async (environment, _, log) => {
    await (await Engine.open(environment)).query(TABLE);
    requests = log.filter((path) => path === "/r.bin").length;
  });
  return { seen, requests };
}

test("of a shard of records only the blocks that are needed are loaded", async () => {
  const { shard, blocks } = inBlocks();
  const { seen, requests } = await askForBlocks([ranges(shard)]);
  const length = (at: number) => `${(blocks[at]?.end ?? 0) - (blocks[at]?.start ?? 0)} bytes`;
  assert.deepEqual(seen, { "block 0": length(0), "block 2": length(2) });
  assert.equal(requests, 2);
});

test("a server that knows no ranges sends the whole shard, which is taken once", async () => {
  const { seen } = await askForBlocks([bytes(inBlocks().shard)]);
  assert.deepEqual(seen, { "r.bin": "firstsecondthird" });
});

test("blocks that are altered, cut or refused are replaced by the whole shard", async () => {
  const { shard } = inBlocks();
  const altered = shard.map((byte, at) => (at > 8 ? byte ^ 1 : byte));
  for (const bad of [ranges(altered), ranges(shard.subarray(0, 30)), status(416), status(500)]) {
    const { seen, requests } = await askForBlocks([bad, bad, bytes(shard)]);
    assert.equal(seen["r.bin"], "firstsecondthird");
    assert.equal(requests, 3);
  }
});

test("an index that asks for ever more files ends in an error", async () => {
  const { modules } = standIns(() => ({ needs: [{ path: "a.bin", blocks: [] }] }));
  await withSite(SITE, modules, async (environment) => {
    const engine = await Engine.open(environment);
    await assert.rejects(engine.query(TABLE), { code: "internal" });
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
