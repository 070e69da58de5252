import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";
import { text } from "node:stream/consumers";

const TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
};

/** What the server does with one request instead of sending the file. */
export type Fault = "status 500" | "altered byte" | "cut connection";

/** A page that exists for a test only. */
interface VirtualPage {
  html: string;
  headers: Record<string, string>;
}

/** Serves a folder, with faults on demand, and remembers what was asked for. */
export class Site {
  /** Address without a trailing slash. */
  origin = "";
  /** Path and query of each request, in order. */
  readonly requests: string[] = [];
  /** Reports of what a Content-Security-Policy with `report-uri /violations` refused. */
  readonly violations: string[] = [];
  readonly #folder: string;
  readonly #headers: Record<string, string>;
  readonly #pages = new Map<string, VirtualPage>();
  readonly #files = new Map<string, string>();
  readonly #gates = new Map<string, Promise<void>>();
  readonly #faults: { path: RegExp; fault: Fault; count: number }[] = [];
  readonly #server = createServer((request, response) => void this.#answer(request, response));

  /** `policy` is the Content-Security-Policy of all that is served. */
  constructor(folder: string, { policy }: { policy?: string } = {}) {
    this.#folder = folder;
    this.#headers = policyHeader(policy);
  }

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    // A test that fails does not stop its site: that must not keep the others' process alive.
    this.#server.unref();
    this.origin = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return this;
  }

  stop(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  /** Adds a page with `body`; `policy` is its Content-Security-Policy. */
  page(path: string, body: string, policy?: string): void {
    const script = '<script type="module" src="/siskin/siskin.js"></script>';
    const head = `<meta charset="utf-8"><title>Test</title><link rel="icon" href="/favicon.svg">`;
    this.#pages.set(path, {
      html: `<!doctype html><html lang="en"><head>${head}${script}</head><body>${body}</body></html>`,
      headers: policyHeader(policy),
    });
  }

  /** Adds a file, or puts another in its place. */
  file(path: string, content: string): void {
    this.#files.set(path, content);
  }

  /** Holds answers to `path` back until the function that it returns is called. */
  hold(path: string): () => void {
    let release = () => {};
    this.#gates.set(path, new Promise<void>((resolve) => (release = resolve)));
    return release;
  }

  /** The next `count` requests whose path matches go wrong. */
  fail(path: RegExp, fault: Fault, count: number): void {
    this.#faults.push({ path, fault, count });
  }

  /** Ends all faults. */
  heal(): void {
    this.#faults.length = 0;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, search } = new URL(request.url ?? "/", this.origin);
    if (pathname === "/violations") {
      this.violations.push(await text(request));
      response.writeHead(204).end();
      return;
    }
    this.requests.push(pathname + search);
    await this.#gates.get(pathname);
    const page = this.#pages.get(pathname);
    if (page !== undefined) {
      response.writeHead(200, {
        "content-type": TYPES[".html"] ?? "",
        ...this.#headers,
        ...page.headers,
      });
      response.end(page.html);
      return;
    }
    const content = await this.#read(pathname);
    if (content === undefined) {
      response.writeHead(404).end();
      return;
    }
    this.#send(pathname, content, response);
  }

  async #read(pathname: string): Promise<Buffer | undefined> {
    const added = this.#files.get(pathname);
    if (added !== undefined) return Buffer.from(added);
    const path = normalize(decodeURIComponent(pathname));
    const file = path.endsWith("/") ? `${path}index.html` : path;
    return readFile(join(this.#folder, file)).catch(() => undefined);
  }

  #send(pathname: string, content: Buffer, response: ServerResponse): void {
    const fault = this.#takeFault(pathname);
    if (fault === "status 500") {
      response.writeHead(500).end();
      return;
    }
    if (fault === "cut connection") {
      response.destroy();
      return;
    }
    if (fault === "altered byte")
      content[content.length >> 1] = 1 ^ (content[content.length >> 1] ?? 0);
    const type = TYPES[extname(pathname.endsWith("/") ? ".html" : pathname)];
    response.writeHead(200, {
      ...this.#headers,
      "content-type":
        type ?? (pathname.endsWith("/") ? TYPES[".html"] : "application/octet-stream"),
      "cache-control": "no-cache",
    });
    response.end(content);
  }

  #takeFault(pathname: string): Fault | undefined {
    const found = this.#faults.find(({ path, count }) => count > 0 && path.test(pathname));
    if (found !== undefined) found.count -= 1;
    return found?.fault;
  }
}

function policyHeader(policy: string | undefined): Record<string, string> {
  return policy === undefined ? {} : { "content-security-policy": policy };
}
