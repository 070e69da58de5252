import { element } from "./nodes.js";
import { fill, newOption } from "./option.js";
import { type Group, RECENT, type Row } from "./rows.js";

interface Option {
  node: HTMLAnchorElement;
  /** What is written in it. */
  content: string;
}

interface Page {
  node: HTMLElement;
  options: Map<string, Option>;
}

/** The listbox: pages with their rows, one of which may be active.
 *
 * What was shown before keeps its nodes, so nothing flickers and what is active stays so. */
export class ResultList {
  readonly node = element("div", { role: "listbox", id: "list", part: "list", hidden: true });
  readonly #changed: (active: HTMLElement | undefined) => void;
  #pages = new Map<string, Page>();
  #options: HTMLAnchorElement[] = [];
  #active: HTMLAnchorElement | undefined;

  /** `changed` is told which option is active now. */
  constructor(changed: (active: HTMLElement | undefined) => void) {
    this.#changed = changed;
  }

  get active(): HTMLAnchorElement | undefined {
    return this.#active;
  }

  get isEmpty(): boolean {
    return this.#options.length === 0;
  }

  /** Shows `groups`. Where they are only the first of `count`, as many of what was shown stay below them. */
  render(groups: Group[], count = groups.length): void {
    const known = this.#pages;
    this.#pages = new Map();
    for (const group of groups) {
      this.#pages.set(group.key, pageFor(group, known.get(group.key)));
    }
    // Those in whose place others are now may be wanted further below.
    const old = [...known];
    const below = [...old.slice(groups.length), ...old.slice(0, groups.length)];
    const left = below.filter(([key]) => key !== RECENT && !this.#pages.has(key));
    for (const [key, page] of left.slice(0, count - groups.length)) this.#pages.set(key, page);
    const pages = [...this.#pages.values()];
    arrange(
      this.node,
      pages.map(({ node }) => node),
    );
    this.#options = pages.flatMap(({ options }) => [...options.values()].map(({ node }) => node));
    this.node.hidden = this.isEmpty;
    if (this.#active !== undefined && !this.#options.includes(this.#active)) this.activate();
  }

  /** Moves the active option by `step`; past either end it is none, which is the input itself. */
  move(step: 1 | -1): void {
    const places = this.#options.length + 1;
    const place = this.#active === undefined ? 0 : this.#options.indexOf(this.#active) + 1;
    this.activate(this.#options[((place + step + places) % places) - 1]);
  }

  activate(option?: HTMLAnchorElement): void {
    this.#active?.setAttribute("aria-selected", "false");
    this.#active = option;
    option?.setAttribute("aria-selected", "true");
    option?.scrollIntoView({ block: "nearest" });
    this.#changed(option);
  }

  /** Pages that begin above the height `bottom` of the window, while the reader is choosing. */
  countAbove(bottom: number): number {
    if (this.#active === undefined && !this.node.matches(":hover")) return 0;
    const isAbove = ({ node }: Page) => node.getBoundingClientRect().top < bottom;
    return [...this.#pages.values()].filter(isAbove).length;
  }
}

function pageFor(group: Group, known: Page | undefined): Page {
  const node = known?.node ?? element("div", { role: "group", part: "group" });
  node.setAttribute("aria-label", group.title);
  const options = new Map<string, Option>();
  for (const row of group.rows) {
    const key = keyOf(row);
    if (!options.has(key)) options.set(key, optionFor(row, known?.options.get(key)));
  }
  arrange(
    node,
    [...options.values()].map((option) => option.node),
  );
  return { node, options };
}

/** Tells the rows of a page apart, whatever words of them are matched. */
function keyOf({ kind, href, lines }: Row): string {
  return `${kind} ${href?.replace(/:~:.*/, "")} ${lines[0]?.text}`;
}

function optionFor(row: Row, known: Option | undefined): Option {
  const content = JSON.stringify(row);
  if (known?.content === content) return known;
  const node = known?.node ?? newOption(row.kind);
  fill(node, row);
  return { node, content };
}

/** Makes `nodes` the children of `parent`, and moves only what is out of place. */
export function arrange(parent: HTMLElement, nodes: HTMLElement[]): void {
  const wanted = new Set<Element>(nodes);
  for (const child of [...parent.children]) if (!wanted.has(child)) child.remove();
  let next = parent.firstElementChild;
  for (const node of nodes) {
    if (node === next) next = next.nextElementSibling;
    else parent.insertBefore(node, next);
  }
}
