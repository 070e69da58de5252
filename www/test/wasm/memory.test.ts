/** What the network takes of a reader's memory, by the small module. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

interface Glue {
  default(options: { module_or_path: WebAssembly.Module }): Promise<{ memory: WebAssembly.Memory }>;
  QueryEncoder: new (
    encoder: Uint8Array,
    tokenizer: Uint8Array,
    model: Uint8Array,
  ) => { encode(text: string): unknown };
}

const DIST = resolve(process.env.SISKIN_DIST_DIR ?? "");
const STEM = "siskin_web_encoder";
const MOST_BESIDE_WEIGHTS = 5e6;
/** More pieces than the network reads, in letters of one, two and four bytes, and a word without an end. */
const LONGEST = ["posting lists ", "größe ", "日本", "🐦 ", "a".repeat(1000)].join("").repeat(100);

test("the network takes at most 5 MB beside its weights, however long and many the questions", async () => {
  const glue: Glue = await import(pathToFileURL(join(DIST, `${STEM}.js`)).href);
  const code = new WebAssembly.Module(readFileSync(join(DIST, `${STEM}_bg.wasm`)));
  const { memory } = await glue.default({ module_or_path: code });
  const file = (name: string) => readFileSync(join(DIST, "encoder", name));
  const model = file("model.onnx");
  const encoder = new glue.QueryEncoder(file("encoder.json"), file("tokenizer.json"), model);
  const taken = () => memory.buffer.byteLength - model.length;
  for (const text of ["stop a request halfway", LONGEST]) assert.ok(encoder.encode(text));
  const afterOne = taken();
  assert.ok(afterOne <= MOST_BESIDE_WEIGHTS, `${afterOne} bytes beside the weights`);
  for (let asked = 0; asked < 20; asked++) encoder.encode(LONGEST);
  assert.equal(taken(), afterOne, "questions leave something behind");
});
