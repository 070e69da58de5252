/** Keeps what a page has loaded, so that the page and its search answer without a connection.
 *
 * Used by itself it covers pages inside the bundle's folder. A site that wants its own pages
 * covered serves a service worker at its root with the one line
 * `importScripts("/siskin/siskin-sw.js");`.
 *
 * Files of an index whose address carries a checksum are taken from the cache; all else from the
 * network while there is one. Kept are these, pages, and what `siskin-keep` names. Nothing is
 * verified here: the engine checks every byte of those files, and asks with `cache: "reload"` for
 * what it refuses. An index is found by its manifest, which is kept last, once all else that was named is.
 *
 * Where the browser's own storage fails, all is as without this script. */

declare const self: ServiceWorkerGlobalScope;

const CACHE_NAME = "siskin-1";

/** Pages and their files kept at most; beyond it the oldest are dropped. Files of indexes are not
 * counted. */
const MAXIMUM_PAGES = 500;

/** A shard of an index, named by its content. */
const SHARD =
  /\/(?:attributes|codes|common|foreign|map|records|spelling|uhd|words)-[a-z2-7]{6}\.bin$/;
/** A file whose address carries its checksum: `encoder/model.onnx?v=0123456789`. */
const CHECKED = /\/(?:siskin_\w+\.(?:wasm|js)|encoder\/\w+\.(?:json|onnx))\?v=[0-9a-f]{10,64}$/;
/** A script whose address carries the version of all scripts. Nobody checks it. */
const SCRIPT = /\/siskin-(?:box|worker|words-\w+)\.js\?v=[0-9a-f]{10,64}$/;
/** The file at the root of an index, which changes with every build. */
const MANIFEST_NAME = "siskin.json";

/** What is being stored, by address. */
const storing = new Map<string, Promise<void>>();

interface Wanted {
  /** Without all of these there is no search. */
  urls: string[];
  /** The manifest among them: another one, of a newer index, is not kept with the files of this. */
  manifest?: string | undefined;
  /** What is kept if it can be. */
  also: string[];
  /** Whether `urls` names all files of the index: those of earlier ones may go. */
  is_whole: boolean;
}

interface KeepMessage extends Partial<Wanted> {
  type: "siskin-keep";
}

self.addEventListener("install", () => void self.skipWaiting());

self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("message", (event) => {
  const message = event.data as Partial<KeepMessage> | null;
  if (message?.type !== "siskin-keep" || !Array.isArray(message.urls)) return;
  const [port] = event.ports;
  const { urls, also = [], is_whole = false, manifest } = message;
  const keeping = keepAll({ urls, also, is_whole, manifest }).catch(() => false);
  event.waitUntil(keeping.then((kept) => port?.postMessage({ kept })));
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const own = new URL(request.url).origin === self.location.origin;
  if (!own || request.method !== "GET") return;
  if (!request.headers.has("range")) event.respondWith(answer(event));
  // Of a shard that is kept, the whole may be sent for any part.
  else if (SHARD.test(request.url)) event.respondWith(keptOrFetched(request));
});

/** True when every one of `urls` is now in the cache. */
async function keepAll({ urls, also, is_whole, manifest }: Wanted): Promise<boolean> {
  const cache = await caches.open(CACHE_NAME);
  const keepEach = async (each: string[], content?: string) => {
    const outcomes = await Promise.allSettled(each.map((url) => keep(cache, url, content)));
    return outcomes.every((outcome) => outcome.status === "fulfilled" && outcome.value);
  };
  const rest = urls.filter((url) => !isManifest(url));
  const [kept] = await Promise.all([keepEach(rest), keepEach(also)]);
  // Until all else is kept, the manifest of the index before stays, and with it what that one names.
  if (!kept || !(await keepEach(urls.filter(isManifest), manifest))) return false;
  if (is_whole) await dropEarlierBuilds(cache, urls);
  return true;
}

function isManifest(url: string): boolean {
  return url.endsWith(`/${MANIFEST_NAME}`);
}

/** Drops the shards that lie beside an index of `urls` and are not among them, and other versions of its checked files. */
async function dropEarlierBuilds(cache: Cache, urls: string[]): Promise<void> {
  const manifests = urls.filter(isManifest);
  const folders = manifests.map((url) => url.slice(0, -MANIFEST_NAME.length));
  const named = new Set(urls);
  const versions = new Set(urls.filter((url) => CHECKED.test(url)).map(unversioned));
  const isEarlier = ({ url }: Request) =>
    !named.has(url) &&
    (SHARD.test(url)
      ? folders.some((folder) => url.startsWith(folder))
      : CHECKED.test(url) && versions.has(unversioned(url)));
  const keys = await cache.keys();
  await Promise.all(keys.filter(isEarlier).map((key) => cache.delete(key)));
}

/** Whether the file at this address never changes. */
function isImmutable(address: string): boolean {
  return SHARD.test(address) || CHECKED.test(address);
}

function isVersioned(address: string): boolean {
  return CHECKED.test(address) || SCRIPT.test(address);
}

/** True when the file at `url` is in the cache, with this `content` where that is given. */
async function keep(cache: Cache, url: string, content?: string): Promise<boolean> {
  await storing.get(url);
  if (isImmutable(url) && (await cache.match(url)) !== undefined) return true;
  const response = await fetch(url);
  if (!isStorable(response)) return false;
  if (content !== undefined && (await response.clone().text()) !== content) return false;
  await store(cache, url, response);
  return true;
}

/** What is kept at `address`. */
async function keptAt(address: string): Promise<Response | undefined> {
  try {
    return await (await caches.open(CACHE_NAME)).match(address);
  } catch {
    return undefined;
  }
}

async function answer(event: FetchEvent): Promise<Response> {
  const { request } = event;
  if (isImmutable(request.url) && request.cache !== "reload") {
    const kept = await keptAt(request.url);
    if (kept !== undefined) return kept;
  }
  try {
    const [response, wanted] = await Promise.all([fetch(request), isWanted(request)]);
    const kept =
      wanted && isStorable(response) && (request.mode !== "navigate" || isPage(response));
    if (kept) storeMeanwhile(event, response.clone());
    return response;
  } catch (error) {
    const kept = await keptAt(addressOf(request));
    if (kept !== undefined) return kept;
    throw error;
  }
}

async function keptOrFetched(request: Request): Promise<Response> {
  return (await keptAt(request.url)) ?? fetch(request);
}

/** Whether an answer to `request` is to be kept: others may be private, or without end. */
async function isWanted(request: Request): Promise<boolean> {
  const { mode, url } = request;
  if (isManifest(url)) return false;
  if (mode === "navigate" || isImmutable(url) || isVersioned(url)) return true;
  return (await keptAt(addressOf(request))) !== undefined;
}

function isStorable(response: Response): boolean {
  const control = response.headers.get("cache-control") ?? "";
  const forbidden = /\b(?:private|no-store)\b/i.test(control);
  return response.status === 200 && response.type === "basic" && !forbidden;
}

/** Whether a link led to a page, and not to a file to download or to view. */
function isPage({ headers }: Response): boolean {
  const is_html = /^(?:text\/html|application\/xhtml\+xml)\b/i;
  const is_download = /^\s*attachment\b/i;
  return (
    is_html.test(headers.get("content-type") ?? "") &&
    !is_download.test(headers.get("content-disposition") ?? "")
  );
}

/** Stores while the page already reads. A full disk costs the page nothing. */
function storeMeanwhile(event: FetchEvent, response: Response): void {
  const address = addressOf(event.request);
  const stored = caches
    .open(CACHE_NAME)
    .then((cache) => store(cache, address, response))
    .catch(() => {})
    .finally(() => storing.delete(address));
  storing.set(address, stored);
  event.waitUntil(stored);
}

async function store(cache: Cache, address: string, response: Response): Promise<void> {
  await cache.put(address, await unredirected(response));
  await prune(cache, address);
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

/** Drops other versions of the script at `address`, and the oldest pages beyond the limit. */
async function prune(cache: Cache, address: string): Promise<void> {
  const keys = await cache.keys();
  const isOtherVersion = ({ url }: Request) =>
    SCRIPT.test(url) && url !== address && unversioned(url) === unversioned(address);
  const pages = keys.filter(({ url }) => !SHARD.test(url) && !isVersioned(url) && !isManifest(url));
  const surplus = pages.slice(0, Math.max(0, pages.length - MAXIMUM_PAGES));
  const dropped = [...keys.filter(isOtherVersion), ...surplus];
  await Promise.all(dropped.map((key) => cache.delete(key)));
}

function unversioned(address: string): string {
  return address.replace(/\?v=.*$/, "");
}

export {};
