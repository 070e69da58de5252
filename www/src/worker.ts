import type { Answer } from "./api.js";
import { Engine } from "./engine.js";
import { asSearchError, SearchError } from "./errors.js";
import { modules } from "./glue.js";
import { type Port, type Reply, type Request, WORKER_NAME } from "./protocol.js";

/** Answers the requests that arrive at `port`, one engine per port. */
export function serve(port: Port): void {
  const host = new Host((reply) => port.postMessage(reply));
  port.addEventListener("message", (event) => void host.receive(event.data as Request));
  port.postMessage({ type: "ready" });
}

class Host {
  readonly #send: (reply: Reply) => void;
  readonly #cancelled = new Set<number>();
  #engine: Engine | undefined;
  /** What the page has fetched, for the first request for it. */
  #ahead = new Map<string, ArrayBuffer>();

  constructor(send: (reply: Reply) => void) {
    this.#send = send;
  }

  async receive(request: Request): Promise<void> {
    if (request.type === "cancel") {
      this.#cancelled.add(request.id);
      return;
    }
    try {
      await this.#perform(request);
    } catch (thrown) {
      this.#fail(request.id, asSearchError(thrown));
    }
    this.#cancelled.delete(request.id);
  }

  async #perform(request: Exclude<Request, { type: "cancel" }>): Promise<void> {
    if (request.type === "open") {
      this.#engine = await this.#open(request);
      this.#send({ type: "done", id: request.id, answer: undefined });
      return;
    }
    await nextTask();
    if (this.#cancelled.has(request.id)) return;
    if (this.#engine === undefined) throw new SearchError("closed", "The search is not open.");
    const answer = await answerTo(request, this.#engine);
    this.#send({ type: "done", id: request.id, answer });
  }

  #open({ places, ahead }: Extract<Request, { type: "open" }>): Promise<Engine> {
    this.#ahead = new Map(ahead);
    return Engine.open({
      source: { fetcher: (url, init) => this.#fetch(url, init) },
      modules,
      bundle: new URL(places.bundle),
      runtime: new URL(places.runtime),
      now: () => performance.now(),
      report: (progress) => this.#send({ type: "progress", progress }),
    });
  }

  async #fetch(url: URL, init: RequestInit): Promise<Response> {
    const arrived = this.#ahead.get(url.href);
    this.#ahead.delete(url.href);
    const response = arrived === undefined ? await fetch(url, init) : new Response(arrived);
    if (response.ok) this.#send({ type: "loaded", url: url.href });
    return response;
  }

  #fail(id: number, { code, message }: SearchError): void {
    this.#send({ type: "failed", id, code, message });
  }
}

type Work = Extract<Request, { type: "query" | "prefetch" }>;

async function answerTo(request: Work, engine: Engine): Promise<Answer | undefined> {
  if (request.type === "query") return engine.query(request.query);
  await engine.prefetch();
  return undefined;
}

/** Lets messages that already wait be handled first: among them the cancelling of this query. */
function nextTask(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}

const scope = globalThis as typeof globalThis & { WorkerGlobalScope?: unknown; name?: string };
if (scope.WorkerGlobalScope !== undefined && scope.name === WORKER_NAME) {
  serve(globalThis as unknown as Port);
}
