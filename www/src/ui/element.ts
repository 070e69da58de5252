import type { Progress, Search } from "../api.js";
import { open } from "../open.js";
import { folderUrl, RUNTIME } from "../places.js";
import { loadRest } from "../rest.js";
import type { SearchError } from "../search-error.js";
import type { SearchBox } from "./box.js";
import { Frame } from "./frame.js";

/** Name under which the element is defined. @internal */
export const ELEMENT_NAME = "siskin-search";

/** Without a DOM (a worker, Node) the class exists and cannot be used. */
const Base: typeof HTMLElement = globalThis.HTMLElement ?? (class {} as typeof HTMLElement);

/** `<siskin-search>`: a search box with its list of results. Attributes: see www/README.md.
 *
 * Here is what a page needs before anybody searches; `SearchBox` is fetched with the engine once the
 * reader turns to the box. */
export class SiskinSearch extends Base {
  static readonly observedAttributes = ["bundle", "mode", "limit", "label", "placeholder"];

  readonly #frame = new Frame(this);
  #box: SearchBox | undefined;
  #waking: Promise<void> | undefined;

  constructor() {
    super();
    this.#frame.root.addEventListener("focusin", () => this.#wake());
    this.#frame.root.addEventListener("input", () => this.#wake());
  }

  /** The question in the box; setting it asks. */
  get value(): string {
    return this.#frame.input.value;
  }

  set value(text: string) {
    this.#frame.input.value = text;
    if (this.#box !== undefined) this.#box.ask();
    else if (text !== "") this.#wake();
  }

  connectedCallback(): void {
    this.#name();
    const parameter = this.getAttribute("query-parameter");
    const asked = parameter && new URLSearchParams(globalThis.location.search).get(parameter);
    if (asked) this.value = asked;
    else if (this.hasAttribute("offline")) this.#wake();
  }

  disconnectedCallback(): void {
    this.#box?.close();
  }

  attributeChangedCallback(name: string, old: string | null, value: string | null): void {
    if (!this.isConnected || old === value) return;
    this.#name();
    this.#box?.changed(name);
  }

  #name(): void {
    const label = this.getAttribute("label") ?? "Search";
    this.#frame.name(label, this.getAttribute("placeholder") ?? label);
  }

  /** Fetches the rest of the box, once, and the engine beside it. A failure is told and forgotten. */
  #wake(): void {
    this.#waking ??= this.#start().catch((error: SearchError) => {
      this.#waking = undefined;
      this.dispatchEvent(new CustomEvent("siskin-error", { detail: error }));
    });
  }

  async #start(): Promise<void> {
    const opening = this.#open();
    // The box says what is wrong, once it is there.
    opening.catch(() => {});
    const { SearchBox } = await loadRest();
    this.#box = new SearchBox(this, this.#frame, () => this.#open(), opening);
    if (!this.isConnected) this.#box.close();
  }

  async #open(): Promise<Search> {
    const offline = this.getAttribute("offline");
    return open(folderUrl(this.getAttribute("bundle") ?? RUNTIME), {
      offline: offline === null ? false : offline || true,
      onProgress: (progress: Progress) => this.#box?.progress(progress),
    });
  }
}

/** Defines `<siskin-search>` where there is a DOM, once. @internal */
export function defineElement(): void {
  const registry = globalThis.customElements;
  if (registry !== undefined && registry.get(ELEMENT_NAME) === undefined) {
    registry.define(ELEMENT_NAME, SiskinSearch);
  }
}
