/** Keeps what a page has loaded, so that the page and its search answer without a connection.
 *
 * Used by itself it covers pages inside the bundle's folder. A site that wants its own pages
 * covered serves a service worker at its root with the one line
 * `importScripts("/siskin/siskin-sw.js");`.
 *
 * Files whose address carries a checksum are taken from the cache; all else from the network while
 * there is one. Nothing is verified here: the engine checks every byte that it is given, and asks
 * with `cache: "reload"` for what it refuses. */

declare const self: ServiceWorkerGlobalScope;

const CACHE_NAME = "siskin-1";

/** Entries kept at most; the oldest are dropped first. */
const MAXIMUM_ENTRIES = 500;

/** `name.0123456789abcdef.bin`, `name-01234567.js` or `name.js?v=0123456789abcdef`. */
const IMMUTABLE = /([.-][0-9a-f]{8,64}\.\w+|[?&]v=[0-9a-f]{8,64})$/;

interface KeepMessage {
  type: "siskin-keep";
  urls: string[];
}

self.addEventListener("install", () => void self.skipWaiting());

self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("message", (event) => {
  const message = event.data as Partial<KeepMessage> | null;
  if (message?.type !== "siskin-keep" || !Array.isArray(message.urls)) return;
  const [port] = event.ports;
  event.waitUntil(keepAll(message.urls).then((kept) => port?.postMessage({ kept })));
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const own = new URL(request.url).origin === self.location.origin;
  if (own && request.method === "GET" && !request.headers.has("range")) {
    event.respondWith(answer(request));
  }
});

/** True when every one of `urls` is now in the cache. */
async function keepAll(urls: string[]): Promise<boolean> {
  const cache = await caches.open(CACHE_NAME);
  const outcomes = await Promise.allSettled(urls.map((url) => keep(cache, url)));
  await dropOldest(cache);
  return outcomes.every((outcome) => outcome.status === "fulfilled" && outcome.value);
}

async function keep(cache: Cache, url: string): Promise<boolean> {
  if (IMMUTABLE.test(url) && (await cache.match(url)) !== undefined) return true;
  const response = await fetch(url);
  await store(cache, new Request(url), response);
  return response.ok;
}

async function answer(request: Request): Promise<Response> {
  const cache = await caches.open(CACHE_NAME);
  if (IMMUTABLE.test(request.url) && request.cache !== "reload") {
    const kept = await cache.match(request.url);
    if (kept !== undefined) return kept;
  }
  try {
    const response = await fetch(request);
    await store(cache, request, response.clone());
    return response;
  } catch (error) {
    const kept = await cache.match(addressOf(request));
    if (kept !== undefined) return kept;
    throw error;
  }
}

async function store(cache: Cache, request: Request, response: Response): Promise<void> {
  const forbidden = response.headers.get("cache-control")?.includes("no-store") ?? false;
  if (response.status !== 200 || response.type !== "basic" || forbidden) return;
  await cache.put(addressOf(request), await unredirected(response));
}

/** Pages are kept without their query: it may hold what the reader searched for. */
function addressOf(request: Request): string {
  const url = new URL(request.url);
  url.hash = "";
  if (request.mode === "navigate") url.search = "";
  return url.href;
}

/** A copy that may answer a navigation: browsers refuse responses that were redirected. */
async function unredirected(response: Response): Promise<Response> {
  if (!response.redirected) return response;
  const { status, headers } = response;
  return new Response(await response.blob(), { status, headers });
}

async function dropOldest(cache: Cache): Promise<void> {
  const keys = await cache.keys();
  const surplus = keys.slice(0, Math.max(0, keys.length - MAXIMUM_ENTRIES));
  await Promise.all(surplus.map((key) => cache.delete(key)));
}

export {};
