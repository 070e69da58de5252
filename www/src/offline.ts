import { scriptUrl } from "./trusted.js";

/** Name of the service worker's script in the runtime folder. */
const SERVICE_WORKER_NAME = "siskin-sw.js";

/** Asks a service worker to keep `loaded` and all else that this page has from its own origin.
 *
 * `choice` is `OpenOptions.offline`. Never rejects: without it, search simply needs a connection. */
export async function keepOffline(
  choice: true | string,
  runtime: URL,
  loaded: string[],
): Promise<"ready" | "unavailable"> {
  const container = globalThis.navigator?.serviceWorker;
  if (container === undefined) return "unavailable";
  try {
    const script =
      choice === true
        ? new URL(SERVICE_WORKER_NAME, runtime)
        : new URL(choice, globalThis.document.baseURI);
    const registration = await container.register(scriptUrl(script));
    const worker = await activated(registration);
    return await keep(worker, [...new Set([...pageUrls(), ...loaded])]);
  } catch {
    return "unavailable";
  }
}

/** The page itself, without its query, and what it has loaded from its own origin. */
function pageUrls(): string[] {
  const { origin, pathname } = globalThis.location;
  const resources = performance.getEntriesByType("resource").map((entry) => entry.name);
  return [origin + pathname, ...resources.filter((url) => new URL(url).origin === origin)];
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

function keep(worker: ServiceWorker, urls: string[]): Promise<"ready" | "unavailable"> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = (event) => {
      port1.close();
      resolve((event.data as { kept: boolean }).kept ? "ready" : "unavailable");
    };
    worker.postMessage({ type: "siskin-keep", urls }, [port2]);
  });
}
