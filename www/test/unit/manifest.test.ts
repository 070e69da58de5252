import assert from "node:assert/strict";
import { test } from "node:test";
import { parseEncoderManifest, parseManifest } from "../../src/manifest.js";

const URL_OF_MANIFEST = new URL("https://example.org/siskin/siskin.json");
const FILE = { kind: "rows", path: "rows-01.bin", bytes: 3, sha256: "00" };

function manifest(file: object): string {
  return JSON.stringify({ files: [file], encoder: { id: "ab" } });
}

test("the files and the encoder's checksum are read", () => {
  const { files, encoder_id } = parseManifest(manifest(FILE), URL_OF_MANIFEST);
  assert.equal(files[0]?.path, "rows-01.bin");
  assert.equal(encoder_id, "ab");
});

test("paths that leave the bundle's folder are refused", () => {
  for (const path of ["../x", "/x", "//host/x", "https://host/x", "a/../x", "a//x", "a\\x", ""]) {
    assert.throws(
      () => parseManifest(manifest({ ...FILE, path }), URL_OF_MANIFEST),
      { code: "corrupt" },
      path,
    );
  }
});

test("what is not a manifest is refused with its address", () => {
  for (const text of ["", "<html>", "[]", "null", "{}", manifest({ ...FILE, bytes: "3" })]) {
    assert.throws(() => parseManifest(text, URL_OF_MANIFEST), {
      code: "corrupt",
      message: /example\.org\/siskin\/siskin\.json is not what/,
    });
  }
});

test("the network's files come in the order in which its module takes them", () => {
  const known = { bytes: 1, sha256: "00" };
  const files = { "model.onnx": known, "tokenizer.json": known, "rows.safetensors": known };
  const read = parseEncoderManifest(
    new TextEncoder().encode(JSON.stringify({ files })),
    URL_OF_MANIFEST,
  );
  assert.deepEqual(
    read.map((file) => file.path),
    ["tokenizer.json", "model.onnx"],
  );
});
