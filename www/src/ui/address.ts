/** The address that a result leads to, or undefined when it is not an ordinary web address.
 *
 * `url` begins with `/` and is meant below `site`; an absolute address must be http or https. */
export function resultUrl(url: string, site: URL): string | undefined {
  try {
    const resolved = new URL(url.startsWith("/") ? `.${url}` : url, site);
    return /^https?:$/.test(resolved.protocol) ? resolved.href : undefined;
  } catch {
    return undefined;
  }
}
