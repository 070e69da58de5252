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
