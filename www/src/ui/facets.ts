import type { Condition, Facet } from "../api.js";
import { cut } from "./bounds.js";
import { element } from "./nodes.js";

/** Values of a filter that can be chosen at most: those of most pages. */
const MAXIMUM_VALUES = 12;

/** Filters above the list: the values of each, of which the reader may choose some. */
export class FacetBar {
  readonly node = element("div", { class: "facets", part: "facets", hidden: true });
  readonly #chosen = new Map<string, Set<string>>();
  readonly #changed: () => void;

  /** `changed` is called when the reader has chosen. */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** What the reader has chosen of the filters of these names: of each one of some values. */
  condition(names: string[]): Condition | undefined {
    const offered = [...this.#chosen].filter(([filter]) => names.includes(filter));
    const all = offered.map(([filter, values]): Condition => {
      return { any: [...values].map((value) => ({ filter, value })) };
    });
    return all.length === 0 ? undefined : { all };
  }

  /** Shows these filters, as far as the answer has them or the reader has chosen by them, in this order. */
  render(facets: Facet[], names: string[]): void {
    const is_known = (name: string) => facets.some(({ filter }) => filter === name);
    const shown = names.filter((name) => is_known(name) || this.#chosen.has(name));
    const focused = this.#focusedKey();
    const group = (name: string) =>
      this.#group(
        name,
        facets.filter(({ filter }) => filter === name),
      );
    const before = [...this.node.children];
    this.node.append(...shown.map(group));
    this.node.hidden = shown.length === 0;
    // The focus goes over before its button leaves: without it the list would close.
    const buttons = [...this.node.querySelectorAll("button")].reverse();
    if (focused !== undefined) buttons.find(({ dataset }) => dataset.key === focused)?.focus();
    for (const group of before) group.remove();
  }

  #focusedKey(): string | undefined {
    return this.node.querySelector<HTMLElement>("button:focus")?.dataset.key;
  }

  #group(filter: string, values: Facet[]): HTMLElement {
    const chosen = this.#chosen.get(filter);
    const most = values
      .slice()
      .sort((a, b) => b.pages - a.pages)
      .slice(0, MAXIMUM_VALUES);
    // A value that no page has any longer can be taken back, too.
    const gone = [...(chosen ?? [])]
      .filter((value) => !values.some((other) => other.value === value))
      .map((value) => ({ filter, value, found: 0, pages: 0 }));
    const all = [...values, ...gone];
    const offered = all.filter((value) => most.includes(value) || chosen?.has(value.value));
    const name = element("span", { class: "filter", dir: "auto" }, cut(filter));
    const buttons = offered.map((value) => this.#button(value, chosen));
    return element(
      "div",
      { role: "group", "aria-label": cut(filter), part: "facet" },
      name,
      ...buttons,
    );
  }

  /** Beside a value that is chosen, others of its filter find nothing: their numbers are left out. */
  #button({ filter, value, found }: Facet, chosen?: Set<string>): HTMLElement {
    const is_chosen = chosen?.has(value) ?? false;
    const count = chosen === undefined || is_chosen ? [" ", String(found)] : [];
    const attributes = {
      type: "button",
      part: "value",
      dir: "auto",
      "aria-pressed": String(is_chosen),
    };
    const button = element("button", attributes, cut(value), ...count);
    button.addEventListener("click", () => this.#toggle(button, filter, value));
    button.dataset.key = `${filter}\n${value}`;
    return button;
  }

  #toggle(button: HTMLElement, filter: string, value: string): void {
    const values = this.#chosen.get(filter) ?? new Set();
    if (!values.delete(value)) values.add(value);
    if (values.size > 0) this.#chosen.set(filter, values);
    else this.#chosen.delete(filter);
    // It shows at once, whatever becomes of the question.
    button.ariaPressed = String(values.has(value));
    this.#changed();
  }
}
