import assert from "node:assert/strict";
import { test } from "node:test";
import { parseEncoderManifest, parseManifest } from "../../src/manifest.js";

const URL_OF_MANIFEST = new URL("https://example.org/siskin/siskin.json");
const FILE = { bytes: 3, sha256: "00" };

function network(files: object): Uint8Array {
  return new TextEncoder().encode(JSON.stringify({ files }));
}

test("the encoder's checksum is read", () => {
  const json = JSON.stringify({ encoder: { id: "ab" } });
  assert.deepEqual(parseManifest(json, URL_OF_MANIFEST), { json, encoder_id: "ab" });
});

test("another encoder may read queries", () => {
  const json = JSON.stringify({ encoder: { id: "ab", query_id: "cd" } });
  assert.deepEqual(parseManifest(json, URL_OF_MANIFEST), { json, encoder_id: "cd" });
});

test("what is not a manifest is refused with its address", () => {
  const wrong = ["", "<html>", "[]", "null", "{}", '{"encoder": {"id": 3}}'];
  for (const text of [...wrong, '{"encoder": {"id": "ab", "query_id": null}}']) {
    assert.throws(() => parseManifest(text, URL_OF_MANIFEST), {
      code: "corrupt",
      message: /example\.org\/siskin\/siskin\.json is not what/,
    });
  }
});

test("a network without its files is refused", () => {
  for (const files of [{}, { "model.onnx": FILE, "tokenizer.json": { ...FILE, bytes: "3" } }]) {
    const parse = () => parseEncoderManifest(network(files), URL_OF_MANIFEST);
    assert.throws(parse, { code: "corrupt" });
  }
});

test("the network's files come in the order in which its module takes them", () => {
  const known = { bytes: 1, sha256: "00" };
  const files = { "model.onnx": known, "tokenizer.json": known, "rows.safetensors": known };
  const read = parseEncoderManifest(network(files), URL_OF_MANIFEST);
  assert.deepEqual(
    read.map((file) => file.path),
    ["tokenizer.json", "model.onnx"],
  );
});
