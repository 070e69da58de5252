import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { type FileEntry, loadFile, loadText, type Source } from "../../src/load.js";
import { bytes, cutOff, serve, silence, status } from "./server.js";

const CONTENT = "0123456789".repeat(1000);
const FILE: FileEntry = {
  path: "part.bin",
  bytes: CONTENT.length,
  sha256: createHash("sha256").update(CONTENT).digest("hex"),
};
const SOURCE: Source = { fetcher: (url, init) => fetch(url, init) };

async function load(answers: Parameters<typeof serve>[0], source = SOURCE, file = FILE) {
  const server = await serve(answers);
  const received: number[] = [];
  try {
    const loaded = await loadFile(source, server.url, file, (count) => received.push(count));
    return { text: new TextDecoder().decode(loaded), log: server.log, received };
  } finally {
    await server.close();
  }
}

test("a good file is fetched once and its progress ends at its length", async () => {
  const { text, log, received } = await load({ "/part.bin": [bytes(CONTENT)] });
  assert.equal(text, CONTENT);
  assert.deepEqual(log, ["/part.bin"]);
  assert.equal(received.at(0), 0);
  assert.equal(received.at(-1), CONTENT.length);
});

test("one bad answer is mended by asking again", async (context) => {
  const altered = `x${CONTENT.slice(1)}`;
  const failures = {
    "status 500": status(500),
    "an altered byte": bytes(altered),
    "a short file": bytes(CONTENT.slice(1)),
    "a cut connection": cutOff(CONTENT.slice(0, 99), CONTENT.length),
  };
  for (const [name, failure] of Object.entries(failures)) {
    await context.test(name, async () => {
      const { text, log } = await load({ "/part.bin": [failure, bytes(CONTENT)] });
      assert.equal(text, CONTENT);
      assert.equal(log.length, 2);
    });
  }
});

test("addresses carry the checksum, unless the name does", async () => {
  const asked: string[] = [];
  const fetcher: Source["fetcher"] = (url, init) => {
    asked.push(url.pathname + url.search);
    return fetch(url, init);
  };
  const version = FILE.sha256.slice(0, 10);
  const hashed = { ...FILE, path: `part-${version}.bin` };
  await load({ "/part.bin": [bytes(CONTENT)] }, { fetcher });
  await load({ [`/${hashed.path}`]: [bytes(CONTENT)] }, { fetcher }, hashed);
  assert.deepEqual(asked, [`/part.bin?v=${version}`, `/${hashed.path}`]);
});

test("the second attempt goes past the browser's cache", async () => {
  const modes: RequestCache[] = [];
  const fetcher: Source["fetcher"] = (url, init) => {
    modes.push(init.cache);
    return fetch(url, init);
  };
  await load({ "/part.bin": [bytes("wrong"), bytes(CONTENT)] }, { fetcher });
  assert.deepEqual(modes, ["default", "reload"]);
});

test("a file that stays altered is corrupt, and the message names both checksums", async () => {
  await assert.rejects(load({ "/part.bin": [bytes(`x${CONTENT.slice(1)}`)] }), (error: Error) => {
    assert.equal((error as { code?: string }).code, "corrupt");
    assert.match(error.message, new RegExp(`part.bin\\S* has checksum .* expected ${FILE.sha256}`));
    return true;
  });
});

test("a file that stays short is corrupt, and the message names both lengths", async () => {
  await assert.rejects(load({ "/part.bin": [bytes("short")] }), {
    code: "corrupt",
    message: /part\.bin\S* is 5 bytes long, expected 10000\./,
  });
});

test("a missing file is a network error with the status", async () => {
  await assert.rejects(load({}), { code: "network", message: /the server answered 404/ });
});

test("a server that is gone is a network error", async () => {
  const server = await serve({});
  await server.close();
  await assert.rejects(loadText(SOURCE, server.url), {
    code: "network",
    message: /Check the connection and try again/,
  });
});

test("without a length the checksum still decides", async () => {
  const { bytes: _, ...unsized } = FILE;
  const good = await load({ "/part.bin": [bytes(CONTENT)] }, SOURCE, unsized);
  assert.equal(good.text, CONTENT);
  await assert.rejects(load({ "/part.bin": [bytes("other")] }, SOURCE, unsized), {
    code: "corrupt",
  });
});

test("an aborted download ends at once and is not repeated", async () => {
  const abort = new AbortController();
  const server = await serve({ "/part.bin": [silence(() => abort.abort())] });
  const loading = loadFile({ ...SOURCE, signal: abort.signal }, server.url, FILE, () => {});
  await assert.rejects(loading, { code: "aborted" });
  assert.equal(server.log.length, 1);
  await server.close();
});
