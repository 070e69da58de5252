/** Damaged bundles and invalid queries, through the real wasm modules. */
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { openBundle, SITE } from "./bundle.js";

let bundle: string;
beforeEach(() => {
  bundle = mkdtempSync(join(tmpdir(), "siskin-damage-"));
  const wanted = (source: string) => !source.endsWith("model.onnx");
  cpSync(join(SITE, "siskin"), bundle, { recursive: true, filter: wanted });
});
afterEach(() => rmSync(bundle, { recursive: true }));

/** The file of the bundle whose name begins with `kind`. */
function fileOf(kind: string): string {
  const name = readdirSync(bundle).find((name) => name.startsWith(kind));
  assert.ok(name, `no ${kind} file in ${bundle}`);
  return name;
}

function edit(name: string, change: (content: Buffer) => Buffer): Buffer {
  const content = change(readFileSync(join(bundle, name)));
  writeFileSync(join(bundle, name), content);
  return content;
}

function editManifest(change: (manifest: Record<string, unknown>) => void): void {
  edit("siskin.json", (content) => {
    const manifest = JSON.parse(content.toString());
    change(manifest);
    return Buffer.from(JSON.stringify(manifest));
  });
}

/** Asks the bundle a question. */
async function ask(): Promise<void> {
  const search = await openBundle({}, bundle);
  try {
    await search.query("unsafe");
  } finally {
    search.close();
  }
}

test("an altered shard is refused by its name", async () => {
  edit(fileOf("codes"), (content) => {
    content.writeUInt8(content.readUInt8(100) ^ 1, 100);
    return content;
  });
  await assert.rejects(ask, { code: "corrupt", message: /codes.* is damaged/ });
});

test("a cut shard with a manifest that agrees is refused for what it holds", async () => {
  const name = fileOf("codes");
  const content = edit(name, (content) => content.subarray(0, content.length - 7));
  const renamed = name.replace(/-.*/, "-aaaaaa.bin");
  writeFileSync(join(bundle, renamed), content);
  edit("siskin.json", (json) =>
    Buffer.from(json.toString().replace(name.slice("codes-".length, -".bin".length), "aaaaaa")),
  );
  await assert.rejects(ask, { code: "corrupt", message: /codes-aaaaaa.* is damaged/ });
});

test("a missing shard is an error of the network, not fewer results", async () => {
  rmSync(join(bundle, fileOf("codes")));
  await assert.rejects(ask, { code: "network", message: /codes.*404/ });
});

test("a newer format is refused with the remedy", async () => {
  editManifest((manifest) => {
    manifest.format = 999;
  });
  await assert.rejects(openBundle({}, bundle), {
    code: "version",
    message: /newer.*update Siskin/,
  });
});

test("a folder without a manifest is a network error that names siskin.json", async () => {
  rmSync(join(bundle, "siskin.json"));
  await assert.rejects(openBundle({}, bundle), { code: "network", message: /siskin\.json.*404/ });
});

test("a bundle without the network's weights answers in the other modes", async () => {
  const search = await openBundle({}, bundle);
  assert.ok((await search.query("unsafe")).results.length > 0);
  await assert.rejects(search.query("unsafe", { mode: "full" }), {
    code: "network",
    message: /model\.onnx/,
  });
  assert.ok((await search.query("unsafe", { mode: "words" })).results.length > 0);
  search.close();
  await assert.rejects(search.query("unsafe"), { code: "closed" });
});

test("an empty query and one of 100 KB are refused, and the search goes on", async () => {
  const search = await openBundle({}, bundle);
  await assert.rejects(search.query("  \n"), { code: "query", message: /empty/ });
  await assert.rejects(search.query("a ".repeat(50_000)), { code: "query", message: /shorten/ });
  assert.ok((await search.query("unsafe")).results.length > 0);
  search.close();
});
