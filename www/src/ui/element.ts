import { open } from "../open.js";
import { RUNTIME } from "../places.js";
import { loadRest, loadWords } from "../rest.js";
import type { SearchError } from "../search-error.js";
import type { SearchBox } from "./box.js";
import { Frame } from "./frame.js";
import { languageOf, nameIn } from "./language.js";
import { DEFAULT_SHORTCUTS, isShortcut, shortcutHint } from "./shortcuts.js";
import { themeOf } from "./theme.js";

/** Name under which the element is defined. @internal */
export const ELEMENT_NAME = "siskin-search";

/** Attributes of the element and of the page. */
const FOLLOWED = { attributeFilter: ["class", "data-theme", "label", "placeholder"] };

/** Without a DOM (a worker, Node) the class exists and cannot be used. */
const Base: typeof HTMLElement = globalThis.HTMLElement ?? (class {} as typeof HTMLElement);

/** `<siskin-search>`: a search box with its list of results. Attributes: see www/README.md.
 *
 * Here is what a page needs before anybody searches; `SearchBox` is fetched with the engine once the
 * reader turns to the box. */
export class SiskinSearch extends Base {
  readonly #frame = new Frame(this);
  #box: SearchBox | undefined;
  #waking: Promise<void> | undefined;
  /** Follows the theme and what names the box; `SearchBox` follows the other attributes. */
  readonly #observer = new MutationObserver(() => this.#update());

  constructor() {
    super();
    for (const type of ["pointerdown", "focusin", "input", "compositionend"]) {
      this.#frame.root.addEventListener(type, (event) => {
        this.#frame.isComposing = (event as InputEvent).isComposing;
        this.#wake();
      });
    }
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

  /** Puts the cursor into the box, and opens it where it is a modal. */
  show(): void {
    this.#frame.show();
  }

  connectedCallback(): void {
    // Once, wherever the page moves the element later; so does the address ask.
    const is_first = !this.#frame.box.parentNode;
    const hint = shortcutHint(this.#shortcuts, navigator.platform);
    if (is_first) {
      this.#frame.build(this.hasAttribute("modal"), hint);
      // What was set before the element was defined hides the property.
      const { value } = this;
      delete (this as Partial<SiskinSearch>).value;
      if (value) this.value = value;
    }
    const page = document.documentElement;
    page.addEventListener("keydown", this.#key);
    for (const node of [page, this]) this.#observer.observe(node, FOLLOWED);
    this.#update();
    const parameter = this.getAttribute("query-parameter");
    const asked = parameter && is_first && new URLSearchParams(location.search).get(parameter);
    if (asked) this.value = asked;
    else if (this.hasAttribute("offline")) this.#wake();
    if (asked && this.#frame.dialog) this.show();
    this.#box?.goOn();
  }

  disconnectedCallback(): void {
    document.documentElement.removeEventListener("keydown", this.#key);
    this.#observer.disconnect();
    this.#box?.close();
  }

  get #shortcuts(): string {
    return this.getAttribute("shortcuts") ?? DEFAULT_SHORTCUTS;
  }

  /** What an attribute lists, with blanks between. */
  #list(name: string): string[] | null | undefined {
    return this.getAttribute(name)?.match(/\S+/g);
  }

  get #language(): string {
    return languageOf((this.closest<HTMLElement>("[lang]") ?? document.documentElement).lang);
  }

  /** Leads to the box, unless the reader is typing elsewhere or another box was quicker. */
  readonly #key = (event: KeyboardEvent): void => {
    const is_meant = isShortcut(event, this.#shortcuts) && !isEditable(event.composedPath()[0]);
    if (!is_meant || event.defaultPrevented || this.getClientRects().length === 0) return;
    event.preventDefault();
    this.show();
  };

  /** Shows what the attributes and the page say. */
  #update(): void {
    const { dataset, className } = document.documentElement;
    const label = this.getAttribute("label") ?? nameIn(this.#language);
    this.#frame.name(label, this.getAttribute("placeholder") ?? label);
    this.#frame.dress(themeOf(this.dataset.theme, dataset.theme, className));
  }

  /** Fetches the rest of the box, once, and the engine beside it. A failure is told and forgotten. */
  #wake(): void {
    this.#waking ??= this.#start().catch((detail: SearchError) => {
      this.#waking = undefined;
      this.#frame.fail();
      this.dispatchEvent(new CustomEvent("siskin-error", { detail }));
    });
  }

  async #start(): Promise<void> {
    const language = this.#language;
    const places = ["bundle", "site"].map((name) => this.getAttribute(name));
    const opening = this.#open();
    // The box says what is wrong, once it is there.
    opening.catch(() => {});
    const [rest, words] = await Promise.all([loadRest(), loadWords(language)]);
    this.#box = new rest.SearchBox(this, this.#frame, {
      open: this.#open,
      opening,
      places,
      words,
      language,
    });
  }

  readonly #open = () => {
    return open(this.#list("bundle") ?? RUNTIME, {
      sites: this.#list("site"),
      offline: this.getAttribute("offline") ?? false,
      onProgress: (progress) => this.#box?.progress(progress),
    });
  };
}

/** Whether keys that are pressed here write something. */
function isEditable(target: EventTarget | undefined): boolean {
  const { isContentEditable, tagName = "" } = target as Partial<HTMLElement>;
  return isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(tagName);
}

/** Defines `<siskin-search>` where there is a DOM, once. @internal */
export function defineElement(): void {
  const registry = globalThis.customElements;
  if (registry !== undefined && registry.get(ELEMENT_NAME) === undefined) {
    registry.define(ELEMENT_NAME, SiskinSearch);
  }
}
