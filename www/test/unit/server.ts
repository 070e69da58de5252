import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A server on this machine whose answers a test decides. */
export interface TestServer {
  /** Its root, ending in `/`. */
  url: URL;
  /** Paths asked for, in order, without their query. */
  log: string[];
  close(): Promise<void>;
}

/** Starts a server; the nth request for a path gets the nth of its answers, later ones the last. */
export async function serve(answers: Record<string, Answer[]>): Promise<TestServer> {
  const log: string[] = [];
  const counts = new Map<string, number>();
  const server = createServer((request, response) => {
    const path = (request.url ?? "").replace(/\?.*/, "");
    const count = counts.get(path) ?? 0;
    counts.set(path, count + 1);
    log.push(path);
    const list = answers[path] ?? [status(404)];
    list[Math.min(count, list.length - 1)]?.(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: new URL(`http://127.0.0.1:${port}/`),
    log,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Answers with these bytes. */
export function bytes(content: Uint8Array | string): Answer {
  return (_, response) => response.end(content);
}

/** Answers with these bytes, or with the range of them that was asked for. */
export function ranges(content: Uint8Array): Answer {
  return (request, response) => {
    const [, start, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? [];
    if (start === undefined) response.end(content);
    else response.writeHead(206).end(content.subarray(Number(start), Number(last) + 1));
  };
}

/** Answers with an HTTP status and no body. */
export function status(code: number): Answer {
  return (_, response) => response.writeHead(code).end();
}

/** Promises `length` bytes, sends `content` and cuts the connection. */
export function cutOff(content: string, length: number): Answer {
  return (_, response) => {
    response.writeHead(200, { "content-length": length });
    response.write(content, () => response.destroy());
  };
}

/** Never answers; tells when it was asked. */
export function silence(asked: () => void): Answer {
  return () => asked();
}
