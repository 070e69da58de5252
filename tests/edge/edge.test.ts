/** Siskin at the edge: the worker that docs/edge.md shows, in workerd, on the sample site. */
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import type { Answer, Mode, Search } from "../../www/src/api.js";
import type { open as openInNode } from "../../www/src/node/node.js";
import { type Fault, Site } from "../browser/site.js";
import { Workerd } from "./workerd.js";

const MODES: Mode[] = ["words", "table", "full"];
const SAMPLE = resolve(process.env.SISKIN_SITE_DIR ?? "");
const OTHER = resolve(process.env.SISKIN_STARLIGHT_DIR ?? "");
const REPOSITORY = resolve(process.env.SISKIN_REPOSITORY ?? ".");

/** Answers in all modes. */
const WORKER = `import { answer } from "./siskin-edge.js";
export default {
  fetch: (request, env) =>
    answer(request, { files: env.ASSETS, modes: ${JSON.stringify(MODES)}, headers: { "x-own": "1" } }),
};`;

/** What people ask of the sample site. */
const QUESTIONS = (() => {
  const file = readFileSync(join(REPOSITORY, "tests/cases/rust-book.json"), "utf8");
  const { cases } = JSON.parse(file) as { cases: { query: string }[] };
  return [...new Set(cases.map(({ query }) => query))].filter((query) => query.trim() !== "");
})();

let node: Search;
before(async () => {
  const entry = join(
    dirname(resolve(process.env.SISKIN_DIST_DIR ?? "")),
    "dist-node/siskin-node.js",
  );
  const { open } = (await import(pathToFileURL(entry).href)) as { open: typeof openInNode };
  node = await open(join(SAMPLE, "siskin"));
});
after(() => node.close());

/** What is the same wherever a question is answered. */
function essence({ took_ms: _, ...answer }: Answer): Omit<Answer, "took_ms"> {
  return answer;
}

/** Runs `work` with a worker of its own, on a folder or on a server that may fail. */
async function withWorker<S extends string | Site>(
  site: S,
  work: (worker: Workerd, site: S) => Promise<void>,
  { script = WORKER, other }: { script?: string; other?: string } = {},
): Promise<void> {
  if (site instanceof Site) await site.start();
  const files = site instanceof Site ? { server: site.origin } : { folder: site as string };
  const worker = await Workerd.start(
    script,
    files,
    other === undefined ? files : { folder: other },
  );
  let complaints = "";
  try {
    await work(worker, site);
  } finally {
    complaints = await worker.stop();
    if (site instanceof Site) await site.stop();
  }
  assert.equal(complaints, "", "workerd complains");
}

async function answerOf(response: Response): Promise<Answer> {
  const body = await response.text();
  assert.equal(response.status, 200, body);
  return JSON.parse(body) as Answer;
}

async function errorOf(response: Response): Promise<[number, string]> {
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  assert.ok(error.message.length > 10, error.message);
  return [response.status, error.code];
}

test("it answers as Node does, in every mode, all questions at once on a cold start", async () => {
  await withWorker(SAMPLE, async (worker) => {
    const asked = QUESTIONS.flatMap((text) => MODES.map((mode) => ({ text, mode })));
    assert.ok(asked.length > 60, `${asked.length} questions`);
    const compare = async ({ text, mode }: (typeof asked)[number]) => {
      const response = await worker.ask(text, { mode });
      const expected = await node.query(text, { mode }).catch(({ code }) => code as string);
      if (typeof expected === "string") {
        assert.deepEqual(await errorOf(response), [400, expected], text);
      } else {
        assert.deepEqual(essence(await answerOf(response)), essence(expected), `${mode}: ${text}`);
      }
    };
    await Promise.all(asked.map(compare));
  });
});

test("limits, further pages and sections are asked for by the address", async () => {
  await withWorker(SAMPLE, async (worker) => {
    const options = { limit: "3", first: "2", sections: "1", language: "en" };
    const response = await worker.ask("shared ownership", options);
    assert.equal(response.headers.get("content-type"), "application/json; charset=utf-8");
    assert.equal(response.headers.get("x-own"), "1");
    const expected = await node.query("shared ownership", {
      limit: 3,
      first: 2,
      sections: 1,
      language: "en",
    });
    const found = await answerOf(response);
    assert.deepEqual(essence(found), essence(expected));
    assert.equal(found.results.length, 3);
    assert.equal(found.results[0]?.sections.length, 1);
  });
});

test("a request that asks wrongly is told so", async () => {
  await withWorker(SAMPLE, async (worker) => {
    const search = `${worker.origin}/search`;
    assert.deepEqual(await errorOf(await fetch(search)), [400, "query"]);
    assert.deepEqual(await errorOf(await worker.ask("")), [400, "query"]);
    for (const wrong of [{ limit: "0" }, { limit: "" }, { limit: "x" }, { first: "-1" }]) {
      assert.deepEqual(await errorOf(await worker.ask("trait", wrong)), [400, "query"]);
    }
    assert.deepEqual(await errorOf(await worker.ask("trait", { mode: "fast" })), [400, "query"]);
    const posted = await fetch(`${search}?q=trait`, { method: "POST", body: "trait" });
    assert.equal(posted.headers.get("allow"), "GET, HEAD");
    assert.deepEqual(await errorOf(posted), [405, "query"]);
    const head = await fetch(`${search}?q=trait`, { method: "HEAD" });
    assert.deepEqual([head.status, await head.text()], [200, ""]);
  });
});

test("modes that the worker does not offer are refused, and full is not offered unasked", async () => {
  const worker = (modes: string) => `import { answer } from "./siskin-edge.js";
    export default { fetch: (request, env) => answer(request, { files: env.ASSETS${modes} }) };`;
  await withWorker(
    SAMPLE,
    async (plain) => {
      assert.deepEqual(await errorOf(await plain.ask("trait", { mode: "full" })), [400, "query"]);
      assert.equal((await answerOf(await plain.ask("trait"))).mode, "table");
    },
    { script: worker("") },
  );
  await withWorker(
    SAMPLE,
    async (words) => {
      assert.deepEqual(await errorOf(await words.ask("trait", { mode: "table" })), [400, "query"]);
      assert.equal((await answerOf(await words.ask("trait"))).mode, "words");
    },
    { script: worker(`, modes: ["words"]`) },
  );
});

test("each binding's files are its own, whatever the address", async () => {
  const script = `import { answer } from "./siskin-edge.js";
    export default {
      fetch: (request, env) =>
        answer(request, { files: request.url.includes("other") ? env.OTHER : env.ASSETS }),
    };`;
  await withWorker(
    SAMPLE,
    async (worker) => {
      for (let round = 0; round < 2; round++) {
        const own = await answerOf(await worker.ask("cancel a request"));
        const others = await answerOf(await worker.ask("cancel a request", { other: "1" }));
        assert.match(own.results[0]?.url ?? "", /^\/(appendix|ch)/);
        assert.match(others.results[0]?.url ?? "", /^\/(guide|reference)\//);
      }
    },
    { script, other: OTHER },
  );
});

test("files are fetched once, and over the network where no binding gives them", async () => {
  const site = await new Site(SAMPLE).start();
  const script = `import { open } from "./siskin-edge.js";
    let search;
    export default {
      async fetch() {
        search ??= await open(${JSON.stringify(`${site.origin}/siskin`)});
        return Response.json(await search.query("value may be missing"));
      },
    };`;
  const expected = essence(await node.query("value may be missing"));
  const ask = async (worker: Workerd) => {
    assert.deepEqual(essence(await answerOf(await worker.ask(""))), expected);
    const fetched = site.requests.length;
    assert.deepEqual(essence(await answerOf(await worker.ask(""))), expected);
    assert.equal(site.requests.length, fetched);
    assert.equal(new Set(site.requests).size, fetched, "nothing was fetched twice");
  };
  await withWorker(SAMPLE, ask, { script }).finally(() => site.stop());
});

test("a file that is missing or altered is told of, and asked for again the next time", async () => {
  await withWorker(new Site(SAMPLE), async (worker, site) => {
    const failing = async (path: RegExp, fault: Fault, mode: Mode) => {
      site.fail(path, fault, Number.POSITIVE_INFINITY);
      const error = await errorOf(await worker.ask("trait", { mode }));
      site.heal();
      return error;
    };
    assert.deepEqual(await failing(/siskin\.json$/, "status 500", "table"), [502, "network"]);
    assert.deepEqual(await failing(/\.bin$/, "altered byte", "table"), [502, "corrupt"]);
    assert.deepEqual(await failing(/\.bin$/, "cut connection", "table"), [502, "network"]);
    assert.deepEqual(await failing(/model\.onnx$/, "altered byte", "full"), [502, "corrupt"]);
    for (const mode of MODES) await answerOf(await worker.ask("trait", { mode }));
  });
});

test("a site that was indexed again answers from its new index", async () => {
  const folder = mkdtempSync(join(tmpdir(), "siskin-edge-site-"));
  const put = (site: string) => {
    rmSync(join(folder, "siskin"), { recursive: true, force: true });
    cpSync(join(site, "siskin"), join(folder, "siskin"), { recursive: true });
  };
  put(SAMPLE);
  await withWorker(folder, async (worker) => {
    const first = await answerOf(await worker.ask("smart pointers"));
    assert.match(first.results[0]?.url ?? "", /^\/ch15/);
    put(OTHER);
    // Whatever of it the worker holds, a question that needs more files finds them gone.
    const second = await answerOf(await worker.ask("cancel a request"));
    assert.match(second.results[0]?.url ?? "", /^\/(guide|reference)\//);
  });
  rmSync(folder, { recursive: true });
});

test("a reader who goes away while the index is opened keeps the next one waiting for a moment only", async () => {
  await withWorker(new Site(SAMPLE), async (worker, site) => {
    const release = site.hold("/siskin/siskin.json");
    const gone = new AbortController();
    const left = assert.rejects(fetch(`${worker.origin}/search?q=trait`, { signal: gone.signal }));
    while (!site.requests.some((path) => path.startsWith("/siskin/siskin.json")))
      await setTimeout(5);
    gone.abort();
    await left;
    site.hold("/siskin/siskin.json")();
    const begun = performance.now();
    await answerOf(await worker.ask("trait"));
    const waited = performance.now() - begun;
    assert.ok(waited < 8000, `${waited} ms`);
    release();
  });
});

test("a reader who goes away while the network is fetched leaves the next one an answer", async () => {
  await withWorker(new Site(SAMPLE), async (worker, site) => {
    const model = "/siskin/encoder/model.onnx";
    const release = site.hold(model);
    const gone = new AbortController();
    const address = `${worker.origin}/search?q=trait&mode=full`;
    const left = assert.rejects(fetch(address, { signal: gone.signal }));
    while (!site.requests.some((path) => path.startsWith(model))) await setTimeout(20);
    gone.abort();
    await left;
    // The first request's download never ends; the next one's is not held back.
    site.hold(model)();
    const expected = await node.query("trait", { mode: "full" });
    const found = await answerOf(await worker.ask("trait", { mode: "full" }));
    assert.deepEqual(essence(found), essence(expected));
    release();
  });
});

test("after a defect the next request gets an instance of its own", async () => {
  // The first instance of the small module traps as soon as it is asked.
  const script = `${WORKER}
    const { instantiate } = WebAssembly;
    WebAssembly.instantiate = async (module, imports) => {
      WebAssembly.instantiate = instantiate;
      const { exports } = await instantiate(module, imports);
      const searchengine_search = () => { throw new WebAssembly.RuntimeError("unreachable"); };
      return { instance: { exports: { ...exports, searchengine_search } }, module };
    };`;
  const ask = async (worker: Workerd) => {
    assert.deepEqual(await errorOf(await worker.ask("trait")), [500, "internal"]);
    const found = await answerOf(await worker.ask("trait"));
    assert.deepEqual(essence(found), essence(await node.query("trait")));
  };
  await withWorker(SAMPLE, ask, { script });
});

test("a thousand questions leave nothing behind", {
  skip: process.platform === "linux" ? false : "reads /proc",
}, async (t) => {
  await withWorker(SAMPLE, async (worker) => {
    const idle = worker.memory();
    const ask = async (mode: Mode, count: number) => {
      for (let asked = 0; asked < count; asked++) {
        const text = QUESTIONS[asked % QUESTIONS.length] ?? "";
        await (await worker.ask(`${text} ${asked}`, { mode })).arrayBuffer();
      }
      return (worker.memory() - idle) / 1e6;
    };
    const table = await ask("table", 200);
    const later = await ask("table", 1000);
    const full = await ask("full", 100);
    const seen = `MB beside an idle worker: table ${table}, later ${later}, full ${full}`;
    t.diagnostic(seen);
    // Some 42, 47 and 138 where this was written; of the process, with compiled code and buffers.
    assert.ok(table < 70 && later < table + 10 && full < 180, seen);
  });
});
