import { scriptUrl } from "./trusted.js";

/** Name of the service worker's script in the runtime folder. */
const SERVICE_WORKER_NAME = "siskin-sw.js";

/** Has `loaded` and this page kept for offline use, and what else the page has from its own origin where that can be
 * had. `is_whole`: `loaded` names all files of the index, so that those of earlier ones may go.
 *
 * Two service workers share one cache: the bundle's own answers for the search worker, whose script
 * lies in the bundle's folder, and `choice`, where it is an address, for the page. Never rejects:
 * without them, search simply needs a connection. */
export async function keepOffline(
  choice: true | string,
  runtime: URL,
  loaded: string[],
  is_whole: boolean,
): Promise<"ready" | "unavailable"> {
  const container = globalThis.navigator?.serviceWorker;
  if (container === undefined) return "unavailable";
  try {
    const scripts = [new URL(SERVICE_WORKER_NAME, runtime)];
    if (choice !== true && choice !== "")
      scripts.push(new URL(choice, globalThis.document.baseURI));
    const workers = await Promise.all(scripts.map((script) => start(container, script)));
    const { origin, pathname } = globalThis.location;
    const urls = [...new Set([origin + pathname, ...loaded])];
    const also = filesOfPage().filter((url) => !urls.includes(url));
    return workers[0] === undefined
      ? "unavailable"
      : await keep(workers[0], { urls, also, is_whole });
  } catch {
    return "unavailable";
  }
}

async function start(container: ServiceWorkerContainer, script: URL): Promise<ServiceWorker> {
  return activated(await container.register(scriptUrl(script)));
}

/** How a page's scripts ask for data, which may be the reader's own. */
const DATA_REQUESTS = ["fetch", "xmlhttprequest", "beacon", "eventsource"];

/** The files that the page has loaded from its own origin. */
function filesOfPage(): string[] {
  const { origin } = globalThis.location;
  const entries = performance.getEntriesByType("resource") as PerformanceResourceTiming[];
  const files = entries.filter((entry) => !DATA_REQUESTS.includes(entry.initiatorType));
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

function keep(
  worker: ServiceWorker,
  wanted: { urls: string[]; also: string[]; is_whole: boolean },
): Promise<"ready" | "unavailable"> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = (event) => {
      port1.close();
      resolve((event.data as { kept: boolean }).kept ? "ready" : "unavailable");
    };
    worker.postMessage({ type: "siskin-keep", ...wanted }, [port2]);
  });
}
