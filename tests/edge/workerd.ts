import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";

/** What `cargo xtask dist` built for edge runtimes. */
export const BUILT = join(dirname(resolve(process.env.SISKIN_DIST_DIR ?? "")), "dist-edge");

/** The file descriptor on which workerd says where it listens. */
const CONTROL = 3;

/** workerd, the runtime of Cloudflare's workers, with one worker and a service of files. */
export class Workerd {
  /** Address without a trailing slash. */
  readonly origin: string;
  readonly #process: ChildProcess;
  readonly #folder: string;
  readonly #complaints: Promise<string>;

  private constructor(
    process: ChildProcess,
    folder: string,
    port: number,
    errors: Promise<string>,
  ) {
    this.#process = process;
    this.#folder = folder;
    this.origin = `http://127.0.0.1:${port}`;
    this.#complaints = errors;
  }

  /** Starts it with the worker `script`, which imports `./siskin-edge.js` and has the files of `site` as `env.ASSETS`,
   * those of `other` as `env.OTHER`. */
  static async start(script: string, site: Files, other = site): Promise<Workerd> {
    const folder = mkdtempSync(join(tmpdir(), "siskin-edge-"));
    for (const name of readdirSync(BUILT)) copyFileSync(join(BUILT, name), join(folder, name));
    writeFileSync(join(folder, "worker.js"), script);
    writeFileSync(join(folder, "config.capnp"), configuration(site, other));
    const options = [`--control-fd=${CONTROL}`, join(folder, "config.capnp")];
    const process = spawn(binary(), ["serve", ...options], {
      stdio: ["ignore", "ignore", "pipe", "pipe"],
    });
    const complaints = text(process.stderr as Readable);
    const port = await listening(process, complaints);
    return new Workerd(process, folder, port, complaints);
  }

  /** Asks `answer` of the worker; `parameters` beside `q`. */
  async ask(q: string, parameters: Record<string, string> = {}): Promise<Response> {
    const query = new URLSearchParams({ q, ...parameters });
    return fetch(`${this.origin}/search?${query}`);
  }

  /** Bytes that the process holds. */
  memory(): number {
    const status = readFileSync(`/proc/${this.#process.pid}/status`, "utf8");
    return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
  }

  /** Ends it; gives what it complained of. */
  async stop(): Promise<string> {
    this.#process.kill("SIGKILL");
    const complaints = await this.#complaints;
    rmSync(this.#folder, { recursive: true });
    return complaints;
  }
}

/** The program of the package for this platform. */
function binary(): string {
  const require = createRequire(import.meta.url);
  const platforms = dirname(dirname(require.resolve("workerd/package.json")));
  const system = process.platform === "win32" ? "windows" : process.platform;
  const architecture = process.arch === "x64" ? "64" : process.arch;
  return join(platforms, `@cloudflare/workerd-${system}-${architecture}/bin/workerd`);
}

/** The files of a folder, or of the server at an address. */
export type Files = { folder: string } | { server: string };

function service(files: Files): string {
  return "folder" in files
    ? `disk = (path = ${JSON.stringify(files.folder)}, writable = false)`
    : `external = (address = ${JSON.stringify(new URL(files.server).host)}, http = ())`;
}

function configuration(site: Files, other: Files): string {
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [
        (name = "worker.js", esModule = embed "worker.js"),
        (name = "siskin-edge.js", esModule = embed "siskin-edge.js"),
        (name = "siskin_web_bg.wasm", wasm = embed "siskin_web_bg.wasm"),
        (name = "siskin_web_encoder_bg.wasm", wasm = embed "siskin_web_encoder_bg.wasm"),
      ],
      compatibilityDate = "2026-01-01",
      bindings = [(name = "ASSETS", service = "files"), (name = "OTHER", service = "other")],
    )),
    (name = "files", ${service(site)}),
    (name = "other", ${service(other)}),
    (name = "internet", network = (allow = ["local", "private", "public"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
`;
}

/** The port that it listens on. */
async function listening(process: ChildProcess, complaints: Promise<string>): Promise<number> {
  let said = "";
  for await (const chunk of process.stdio[CONTROL] as Readable) {
    said += chunk;
    const port = /"event":"listen","socket":"http","port":(\d+)/.exec(said)?.[1];
    if (port !== undefined) return Number(port);
  }
  return assert.fail(`workerd did not start: ${await complaints}`);
}
