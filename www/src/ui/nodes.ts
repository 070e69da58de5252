/** Attributes and properties of a node: strings become attributes, functions listen to events. */
type Attributes = Record<string, string | boolean | ((event: never) => void)>;

/** A new HTML element. Text children become text nodes: markup in data stays text. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value as EventListener);
    else if (typeof value === "string") node.setAttribute(name, value);
    else node.toggleAttribute(name, value);
  }
  node.append(...children);
  return node;
}

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
