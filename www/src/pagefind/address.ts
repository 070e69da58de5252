/** How the addresses of an index's results are written. */
export interface AddressRules {
  /** A path that begins with `/`, or a whole http or https address. */
  base: string;
  /** Parameter that gets the words asked for; empty for none. */
  highlight: string;
}

/** What results begin with unless an option says it: the folder above that of `pagefind.js`. */
export function defaultBase(home: URL): string {
  const above = new URL("..", home);
  return above.origin === globalThis.location?.origin ? above.pathname : above.href;
}

/** `base` as a path or a web address, whatever it was. */
export function checkedBase(base: string): string {
  return /^(\/|https?:\/\/)/.test(base) ? base : `/${base}`;
}

/** The address of a page of the index, or of a heading on it, for a search for `term`.
 *
 * It begins with http, https or one slash: no script and no other site's page can hide in it. */
export function addressOf(url: string, rules: AddressRules, term: string): string {
  const [page, anchor] = parts(url);
  const hash = anchor === undefined ? "" : `#${anchor}`;
  return withTerm(joined(rules.base, page), rules.highlight, term) + hash;
}

/** Address of a page, and the heading on it. */
export function parts(url: string): [page: string, anchor: string | undefined] {
  const at = url.indexOf("#");
  return at < 0 ? [url, undefined] : [url.slice(0, at), url.slice(at + 1)];
}

/** Browsers skip tabs and line breaks, and read `\` as `/`: two of these would name another host. */
function joined(base: string, page: string): string {
  if (/^https?:\/\//.test(page)) return page;
  const path = `${base}/${page}`.replace(/[\t\n\r]/g, "").replace(/[\\/]+/g, "/");
  return path.replace(/^(https?:\/)/, "$1/");
}

function withTerm(address: string, name: string, term: string): string {
  if (name === "") return address;
  const words = term.split(/\s+/).filter((word) => word !== "");
  const query = new URLSearchParams(words.map((word) => [name, word])).toString();
  if (query === "") return address;
  return address + (address.includes("?") ? "&" : "?") + query;
}
