// Prints, as JSON, each file's size as stored and as a host would send it in brotli.
// Arguments: "QUALITY:PATH" each, with brotli's quality from 0 to 11.
import { readFileSync } from "node:fs";
import { brotliCompressSync, constants } from "node:zlib";

function measure(argument) {
  const [quality, path] = argument.split(/:(.*)/s);
  const bytes = readFileSync(path);
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: Number(quality),
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  };
  return { raw_bytes: bytes.length, brotli_bytes: brotliCompressSync(bytes, { params }).length };
}

process.stdout.write(JSON.stringify(process.argv.slice(1).map(measure)));
