import type { Result } from "../api.js";
import css from "./box.css";
import type { Frame } from "./frame.js";
import { element } from "./nodes.js";
import { resultOption } from "./results.js";
import { addStyle } from "./style.js";

/** Typing rests this long before a screen reader is told of new results. */
const ANNOUNCE_DELAY_MS = 600;

/** What the reader does. */
export interface Gestures {
  input(): void;
  focus(): void;
  key(event: KeyboardEvent): void;
  leave(): void;
  retry(): void;
}

/** The nodes of one search box: a combobox and its list, by the ARIA pattern. */
export class View {
  readonly input: HTMLInputElement;
  readonly #frame: Frame;
  readonly #list = element("div", { role: "listbox", id: "list", part: "list" });
  readonly #note = element("p", { class: "note", part: "note" });
  readonly #retry: HTMLButtonElement;
  readonly #panel: HTMLElement;
  readonly #status = element("div", { role: "status" });
  #options: HTMLElement[] = [];
  #active = -1;
  #announcement: ReturnType<typeof setTimeout> | undefined;

  constructor(frame: Frame, gestures: Gestures) {
    const { root, input } = frame;
    this.#frame = frame;
    this.input = input;
    this.#retry = element("button", { type: "button", click: () => gestures.retry() }, "Try again");
    this.#panel = element("div", { class: "panel", part: "panel", hidden: true });
    this.#panel.append(this.#note, this.#retry, this.#list);
    addStyle(root, css);
    root.append(this.#panel, this.#status);
    this.name();
    listen(input, gestures);
    root.addEventListener("focusout", (event) => {
      const next = (event as FocusEvent).relatedTarget;
      if (!(next instanceof Node && root.contains(next))) gestures.leave();
    });
    // A press on a link or on the panel must not take the focus out of the input.
    this.#list.addEventListener("mousedown", (event) => event.preventDefault());
  }

  /** Calls the list what the input is called. */
  name(): void {
    this.#list.setAttribute("aria-label", this.#frame.label);
  }

  get isOpen(): boolean {
    return !this.#panel.hidden;
  }

  get active(): HTMLElement | undefined {
    return this.#options[this.#active];
  }

  get hasContent(): boolean {
    return this.#options.length > 0 || this.#note.textContent !== "";
  }

  show(): void {
    this.#panel.hidden = !this.hasContent;
    this.input.setAttribute("aria-expanded", String(this.isOpen && this.#options.length > 0));
  }

  hide(): void {
    this.#panel.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.activate(-1);
  }

  /** Takes all results away. */
  empty(): void {
    this.#options = [];
    this.#list.replaceChildren();
    this.#list.hidden = true;
    this.activate(-1);
  }

  /** Shows results, or none with a note that says why. */
  render(results: Result[], site: URL): void {
    this.#options = results.map((result, index) => resultOption(result, index, site));
    this.#list.replaceChildren(...this.#options);
    this.#list.hidden = results.length === 0;
    this.activate(-1);
    this.show();
  }

  /** The line above the list; `busy` turns a wheel beside it, `failed` offers to try again. */
  note(text: string, state: "plain" | "busy" | "failed" = "plain"): void {
    this.#note.textContent = text;
    this.#note.hidden = text === "";
    this.#note.classList.toggle("busy", state === "busy");
    this.#retry.hidden = state !== "failed";
  }

  /** Tells a screen reader, once typing rests. */
  announce(text: string): void {
    clearTimeout(this.#announcement);
    this.#announcement = setTimeout(() => {
      this.#status.textContent = text;
    }, ANNOUNCE_DELAY_MS);
  }

  /** Moves the active option by `step`; past either end it is none, which is the input itself. */
  move(step: 1 | -1): void {
    const places = this.#options.length + 1;
    this.activate(((this.#active + 1 + step + places) % places) - 1);
  }

  activate(index: number): void {
    this.active?.setAttribute("aria-selected", "false");
    this.#active = index;
    const { active } = this;
    active?.setAttribute("aria-selected", "true");
    active?.scrollIntoView({ block: "nearest" });
    if (active === undefined) this.input.removeAttribute("aria-activedescendant");
    else this.input.setAttribute("aria-activedescendant", active.id);
  }
}

function listen(input: HTMLInputElement, gestures: Gestures): void {
  input.addEventListener("input", (event) => {
    if (!(event as InputEvent).isComposing) gestures.input();
  });
  input.addEventListener("compositionend", () => gestures.input());
  input.addEventListener("focus", () => gestures.focus());
  input.addEventListener("keydown", (event) => gestures.key(event));
}
