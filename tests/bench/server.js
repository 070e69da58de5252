/** A static server that counts what it sends. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createSecureServer } from "node:http2";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";

const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
};

/** Lets pages see how much memory they use. */
const ISOLATION = {
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-embedder-policy": "require-corp",
};

/** A rough size of a response's headers; told apart from the bodies. */
export const HEADER_BYTES = 200;

/** Serves `folder`; a file that is in `copies` too goes out as it is there, in brotli. */
export class Server {
  origin = "";
  /** Put before every script, for looking into workers; such bytes are not counted as real. */
  prelude = "";
  /** Whether parts of files are sent, as most hosts do. */
  ranges = true;
  requests = 0;
  body_bytes = 0;
  /** Paths that were not found. */
  missing = [];
  #folder;
  #copies;
  #server;
  #scheme;
  #sessions = new Set();

  /** Over HTTP/1.1 or, with a `certificate`, over HTTP/2. */
  constructor(folder, copies, certificate) {
    this.#folder = folder;
    this.#copies = copies;
    const answer = (request, response) => this.#answer(request, response);
    this.#scheme = certificate ? "https" : "http";
    this.#server = certificate ? createSecureServer(certificate, answer) : createServer(answer);
    this.#server.keepAliveTimeout = 60_000;
    this.#server.on("session", (session) => this.#sessions.add(session));
  }

  async start() {
    await new Promise((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    this.origin = `${this.#scheme}://127.0.0.1:${this.#server.address().port}`;
    return this;
  }

  stop() {
    this.#server.closeAllConnections?.();
    for (const session of this.#sessions) session.destroy();
    return new Promise((resolve) => this.#server.close(resolve));
  }

  /** What was sent since the last call. */
  take() {
    const { requests, body_bytes } = this;
    this.requests = 0;
    this.body_bytes = 0;
    return { requests, body_bytes, header_bytes: requests * HEADER_BYTES };
  }

  async #answer(request, response) {
    const path = normalize(decodeURIComponent(new URL(request.url, this.origin).pathname));
    const name = path.endsWith("/") ? `${path}index.html` : path;
    const accepts = /\bbr\b/.test(request.headers["accept-encoding"] ?? "");
    const packed = accepts && !this.prelude && (await read(join(this.#copies, name)));
    let content = packed || (await read(join(this.#folder, name)));
    this.requests += 1;
    if (content === undefined) {
      this.missing.push(path);
      response.writeHead(404, { "content-length": 0 }).end();
      return;
    }
    if (this.prelude && extname(name) === ".js") {
      content = Buffer.concat([Buffer.from(this.prelude), content]);
    }
    const range = this.ranges && !packed && rangeOf(request.headers.range, content.length);
    if (range) content = content.subarray(range.start, range.end);
    this.body_bytes += content.length;
    response.writeHead(range ? 206 : 200, {
      "content-type": TYPES[extname(name)] ?? "application/octet-stream",
      "content-length": content.length,
      ...(range && { "content-range": `bytes ${range.start}-${range.end - 1}/${range.length}` }),
      "cache-control": "max-age=3600",
      ...(packed && { "content-encoding": "br" }),
      ...ISOLATION,
    });
    response.end(content);
  }
}

/** A certificate that nobody vouches for: HTTP/2 is spoken over TLS only. */
export function certificate() {
  const folder = mkdtempSync(join(tmpdir(), "siskin-bench-"));
  try {
    const [key, cert] = ["key.pem", "cert.pem"].map((name) => join(folder, name));
    const subject = ["-subj", "/CN=127.0.0.1", "-days", "2", "-keyout", key, "-out", cert];
    const kind = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
    execFileSync("openssl", [...kind, ...subject], { stdio: ["ignore", "ignore", "inherit"] });
    return { key: readFileSync(key), cert: readFileSync(cert) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The one range of a file that a request asks for, as servers of static files understand it. */
function rangeOf(header, length) {
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(header ?? "") ?? [];
  if (first === undefined || Number(first) >= length) return undefined;
  return { start: Number(first), end: Math.min(Number(last) + 1, length), length };
}

function read(path) {
  return readFile(path).catch(() => undefined);
}
