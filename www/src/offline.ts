import { scriptUrl } from "./trusted.js";

/** Name of the service worker's script in the runtime folder. */
const SERVICE_WORKER_NAME = "siskin-sw.js";

/** What is to be kept. */
export interface Wanted {
  /** Without all of these there is no search. */
  urls: string[];
  /** What is kept if it can be. */
  also: string[];
  /** Whether `urls` names all files of the index, so that those of earlier ones may go. */
  is_whole: boolean;
  /** The manifest among `urls`, if it is known: another one is refused. */
  manifest: string | undefined;
}

/** Has files kept for offline use. Ready once they are, where a service worker covers this page.
 *
 * Two service workers share one cache: the bundle's own answers for the search worker, whose script
 * lies in the bundle's folder, and `choice`, where it is an address, for the page. Never rejects:
 * without them, search simply needs a connection. */
export async function keepOffline(
  choice: true | string,
  runtime: URL,
  wanted: Wanted,
): Promise<"ready" | "unavailable"> {
  const container = globalThis.navigator?.serviceWorker;
  if (container === undefined) return "unavailable";
  try {
    const scripts = [new URL(SERVICE_WORKER_NAME, runtime)];
    if (choice !== true && choice !== "")
      scripts.push(new URL(choice, globalThis.document.baseURI));
    const [worker] = await Promise.all(scripts.map((script) => start(container, script)));
    const is_kept = worker !== undefined && (await keep(worker, wanted));
    // Any will do: a site may have one of its own for its pages.
    const is_covered = (await container.getRegistration()) !== undefined;
    return is_kept && is_covered ? "ready" : "unavailable";
  } catch {
    return "unavailable";
  }
}

async function start(container: ServiceWorkerContainer, script: URL): Promise<ServiceWorker> {
  return activated(await container.register(scriptUrl(script)));
}

/** How a page's scripts ask for data, which may be the reader's own. */
const DATA_REQUEST = /^(fetch|xmlhttprequest|beacon|eventsource)$/;

/** The page's address, without its query: it may hold what the reader searched for. */
export function pageUrl(): string {
  const { origin, pathname } = globalThis.location;
  return origin + pathname;
}

/** The files that the page has loaded from its own origin. */
export function filesOfPage(): string[] {
  const { origin } = globalThis.location;
  const entries = performance.getEntriesByType("resource") as PerformanceResourceTiming[];
  const files = entries.filter((entry) => !DATA_REQUEST.test(entry.initiatorType));
  const urls = files.map((entry) => entry.name);
  return [...new Set(urls.filter((url) => new URL(url).origin === origin))];
}

function activated(registration: ServiceWorkerRegistration): Promise<ServiceWorker> {
  const worker = registration.active ?? registration.waiting ?? registration.installing;
  return new Promise((resolve, reject) => {
    const check = () => {
      if (worker === null || worker.state === "redundant") reject(new Error("no service worker"));
      else if (worker.state === "activated") resolve(worker);
    };
    worker?.addEventListener("statechange", check);
    check();
  });
}

function keep(worker: ServiceWorker, wanted: Wanted): Promise<boolean> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = (event) => {
      port1.close();
      resolve((event.data as { kept: boolean }).kept);
    };
    worker.postMessage({ type: "siskin-keep", ...wanted }, [port2]);
  });
}
