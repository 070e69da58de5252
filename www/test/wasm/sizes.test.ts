/** What a page pays, in bytes as a host sends them (brotli, best quality). */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { brotliCompressSync } from "node:zlib";

const DIST = resolve(process.env.SISKIN_DIST_DIR ?? "");
const LOADER = "siskin.js";
const ENCODER = "siskin_web_encoder_bg.wasm";

/** The loader and whatever it fetches for its user interface. */
const INTERFACE = /^siskin(-box|-words-[\w-]+)?\.js$/;

function compressedBytes(name: string): number {
  return brotliCompressSync(readFileSync(join(DIST, name))).length;
}

test("a page on which nobody searches pays at most 3 KB", () => {
  const bytes = compressedBytes(LOADER);
  assert.ok(bytes <= 3 * 1024, `${LOADER} has ${bytes} bytes`);
});

test("the small module of the network has at most 40 KB", () => {
  const bytes = compressedBytes(ENCODER);
  assert.ok(bytes <= 40 * 1024, `${ENCODER} has ${bytes} bytes`);
});

test("the whole user interface has at most 25 KB", () => {
  const files = readdirSync(DIST).filter((name) => INTERFACE.test(name));
  assert.ok(files.includes("siskin-box.js"), files.join(" "));
  const bytes = files.map(compressedBytes).reduce((sum, size) => sum + size, 0);
  assert.ok(bytes <= 25 * 1024, `${files.join(" ")} have ${bytes} bytes`);
});

test("what siskin.js hands over is not carried twice", () => {
  const box = readFileSync(join(DIST, "siskin-box.js"), "utf8");
  assert.ok(!box.includes("extends Error"), "the class of errors");
  assert.ok(!box.includes("createElement"), "the maker of elements");
});
