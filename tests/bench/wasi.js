/** Runs a WebAssembly program with the system interface: `node wasi.js PROGRAM ARGUMENT…`. */
import { readFileSync } from "node:fs";
import { WASI } from "node:wasi";

const [, , program, ...rest] = process.argv;
const wasi = new WASI({ version: "preview1", args: [program, ...rest] });
const { instance } = await WebAssembly.instantiate(readFileSync(program), wasi.getImportObject());
wasi.start(instance);
