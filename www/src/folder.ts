/** `url` as the address of a folder: ending in `/`, nothing behind it. */
export function asFolder(url: URL): URL {
  url.pathname = url.pathname.replace(/\/?$/, "/");
  url.search = url.hash = "";
  return url;
}
