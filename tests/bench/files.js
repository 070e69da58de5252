/** Files of an index: their sizes raw and as sent, and their compressed copies. */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";

/** What web servers and CDNs compress; any other file goes out as it is. */
const COMPRESSIBLE = new Set([".html", ".js", ".css", ".json", ".svg", ".txt", ".wasm"]);

/** Quality 9 takes long for the largest files, and gains little. */
const LARGE_BYTES = 16 << 20;

export function filesBelow(folder) {
  return readdirSync(folder, { recursive: true }).filter((name) =>
    statSync(join(folder, name)).isFile(),
  );
}

export function brotli(content) {
  const quality = content.length > LARGE_BYTES ? 5 : 9;
  return brotliCompressSync(content, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: quality,
      [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
    },
  });
}

/** Writes the file's copy in brotli where servers do so and it helps; tells its sizes. */
export function compressFile({ root, copies }, name) {
  const content = readFileSync(join(root, name));
  const packed = COMPRESSIBLE.has(extname(name)) ? brotli(content) : content;
  if (packed.length < content.length) {
    mkdirSync(dirname(join(copies, name)), { recursive: true });
    writeFileSync(join(copies, name), packed);
  }
  return { raw: content.length, served: Math.min(packed.length, content.length) };
}

/** The same for every file in `root/folder`, added up. */
export function compressFolder({ root, copies }, folder) {
  const sum = { files: 0, raw_bytes: 0, served_bytes: 0 };
  for (const name of filesBelow(join(root, folder))) {
    const { raw, served } = compressFile({ root, copies }, join(folder, name));
    sum.files += 1;
    sum.raw_bytes += raw;
    sum.served_bytes += served;
  }
  return sum;
}
