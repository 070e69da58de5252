import css from "./box.css";
import type { FacetBar } from "./facets.js";
import type { Frame } from "./frame.js";
import { ResultList } from "./list.js";
import { element } from "./nodes.js";
import type { Phrases } from "./phrases.js";
import type { Group } from "./rows.js";
import { sheet } from "./style.js";
import { directionOf } from "./words.js";

/** Typing rests this long before a screen reader is told of new results. */
const ANNOUNCE_DELAY_MS = 600;

/** What the input becomes with its list. */
const INPUT = {
  // The engine refuses longer questions.
  maxlength: "2000",
  "aria-autocomplete": "list",
  "aria-controls": "list",
  enterkeyhint: "search",
  spellcheck: "false",
};

/** What the reader does. */
export interface Gestures {
  input(): void;
  focus(): void;
  key(event: KeyboardEvent): void;
  leave(): void;
  /** A link is followed. */
  follow(): void;
  /** An earlier search is asked again. */
  recall(search: string): void;
  /** Earlier searches are to be forgotten. */
  forget(): void;
  retry(): void;
  more(): void;
  /** Reasons are to be shown, or no longer. */
  why(): void;
}

/** The nodes of one search box: a combobox and its list, by the ARIA pattern. */
export class View {
  readonly input: HTMLInputElement;
  readonly list = new ResultList((active) => this.#activated(active));
  readonly #frame: Frame;
  readonly #facets: HTMLElement;
  readonly #note = element("p", { class: "note", part: "note" });
  readonly #retry: HTMLButtonElement;
  readonly #more: HTMLButtonElement;
  readonly #clear: HTMLButtonElement;
  readonly #why: HTMLButtonElement;
  readonly #mode = element("span", { part: "mode" });
  readonly #reasons = element("div", { class: "about", hidden: true });
  readonly #panel = element("div", { class: "panel", part: "panel", tabindex: "-1", hidden: true });
  readonly #status = element("div", { role: "status" });
  #announcement: ReturnType<typeof setTimeout> | undefined;
  /** The reader does something outside the box. */
  #elsewhere: (event: Event) => void = () => {};

  constructor(
    frame: Frame,
    { words, language }: Phrases,
    { node: facets }: FacetBar,
    gestures: Gestures,
  ) {
    this.#frame = frame;
    this.#facets = facets;
    this.input = frame.input;
    for (const [name, value] of Object.entries(INPUT)) this.input.setAttribute(name, value);
    this.#retry = button("retry", words.retry, gestures.retry);
    this.#more = button("more", words.more, gestures.more);
    this.#clear = button("clear", words.clear, gestures.forget);
    this.#why = button("why", words.why, gestures.why);
    this.#why.hidden = false;
    this.#reasons.append(this.#why, this.#mode);
    this.#modal(frame, words.close);
    const above = [facets, this.#note, this.#retry, this.#reasons];
    this.#panel.append(...above, this.list.node, this.#more, this.#clear);
    // A press on the panel must not take the focus out of the input: that would close it.
    this.#panel.addEventListener("mousedown", (event) => event.preventDefault());
    frame.failure.remove();
    frame.box.lang = language;
    frame.box.dir = directionOf(language);
    frame.root.adoptedStyleSheets.push(sheet(css));
    frame.box.append(this.#panel, this.#status);
    this.name();
    this.#listen(gestures);
  }

  /** Calls the list what the input is called. */
  name(): void {
    this.list.node.setAttribute("aria-label", this.input.getAttribute("aria-label") ?? "");
  }

  get isOpen(): boolean {
    return !this.#panel.hidden;
  }

  get showsResults(): boolean {
    return this.isOpen && !this.list.isEmpty;
  }

  show(): void {
    // Filters stay, so that a choice which leaves nothing can be taken back.
    const is_blank = this.list.isEmpty && this.#note.textContent === "";
    this.#panel.hidden = is_blank && this.#facets.hidden;
    this.input.setAttribute("aria-expanded", String(this.showsResults));
    this.#heedPage();
  }

  hide(): void {
    this.#panel.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.list.activate();
    this.#heedPage();
  }

  /** The box is no longer on the page, whose clicks and keys do not matter until the list is shown again. */
  unheed(): void {
    this.#heedPage(false);
  }

  /** Takes all results away. */
  empty(): void {
    this.render([], false);
    this.list.activate();
  }

  /** Shows pages with their rows, the first of `count`; `has_more` offers further ones. */
  render(groups: Group[], has_more: boolean, count = groups.length): void {
    this.list.render(groups, count);
    this.#offer(this.#clear, false);
    this.#offer(this.#more, has_more);
    this.#offer(this.#reasons, groups.length > 0);
  }

  /** Shows earlier searches, and a way to forget them. */
  recent(group: Group): void {
    this.render([group], false);
    this.note(group.title);
    this.#offer(this.#clear, true);
    this.#offer(this.#reasons, false);
    this.show();
  }

  /** Shows how the answer was found, beside the button that asks for reasons; or nothing. */
  explain(mode: string | undefined): void {
    this.#why.ariaPressed = String(mode !== undefined);
    this.#mode.textContent = mode ?? "";
  }

  /** Begins at the top, as for a new question. */
  rewind(): void {
    this.list.activate();
    this.#panel.scrollTop = 0;
  }

  /** Pages from the top that the reader may be about to choose: while the pointer is over the list or
   * an option is active, those in view. */
  get pinnedCount(): number {
    const bottom = Math.min(this.#panel.getBoundingClientRect().bottom, globalThis.innerHeight);
    return this.isOpen ? this.list.countAbove(bottom) : 0;
  }

  /** The line above the list; `busy` turns a wheel beside it, `failed` offers to try again. */
  note(text: string, state: "plain" | "busy" | "failed" = "plain"): void {
    this.#note.textContent = text;
    this.#note.hidden = text === "";
    this.#note.classList.toggle("busy", state === "busy");
    this.#offer(this.#retry, state === "failed");
  }

  /** Shows what the reader may press, or takes it away; a focus on it goes back to the input. */
  #offer(node: HTMLElement, is_offered: boolean): void {
    const has_focus = node.matches(":focus-within");
    node.hidden = !is_offered;
    if (has_focus && !is_offered) this.input.focus();
  }

  /** Takes back what was told, so that the same can be told again. */
  unsay(): void {
    clearTimeout(this.#announcement);
    this.#status.textContent = "";
  }

  /** Tells a screen reader, once typing rests. */
  announce(text: string): void {
    clearTimeout(this.#announcement);
    this.#announcement = setTimeout(() => {
      if (this.#status.textContent !== text) this.#status.textContent = text;
    }, ANNOUNCE_DELAY_MS);
  }

  #activated(active: HTMLElement | undefined): void {
    if (active === undefined) this.input.removeAttribute("aria-activedescendant");
    else this.input.setAttribute("aria-activedescendant", active.id);
  }

  /** What a modal has besides: a button that closes it, as does a click beside it. */
  #modal({ box, dialog }: Frame, close: string): void {
    if (dialog === undefined) return;
    const end = button("close", "✕", () => dialog.close());
    end.setAttribute("aria-label", close);
    end.hidden = false;
    box.append(end);
    let is_beside = false;
    // A selection of text may end beside it. What is within its edge is the box's.
    dialog.addEventListener("pointerdown", ({ target }) => {
      is_beside = target === dialog;
    });
    dialog.addEventListener("click", ({ target }) => {
      if (is_beside && target === dialog) dialog.close();
    });
  }

  /** With a modifier key a link opens elsewhere, and the reader stays here. */
  #chosen({ target, ctrlKey, metaKey, shiftKey }: MouseEvent, gestures: Gestures): void {
    const option = target instanceof Element ? target.closest<HTMLElement>("[role=option]") : null;
    if (option?.classList.contains("recent")) gestures.recall(option.textContent);
    else if (option?.hasAttribute("href") && !ctrlKey && !metaKey && !shiftKey) gestures.follow();
  }

  #listen(gestures: Gestures): void {
    const { input } = this;
    input.addEventListener("input", (event) => {
      if (!(event as InputEvent).isComposing) gestures.input();
    });
    input.addEventListener("compositionend", () => gestures.input());
    input.addEventListener("focus", () => gestures.focus());
    input.addEventListener("keydown", (event) => {
      gestures.key(event);
      // The page sees the element as the keys' target, no input: it would take them for shortcuts.
      // While a word is being composed Escape belongs to the input method.
      const is_free = event.key === "Escape" && !event.defaultPrevented && !isComposing(event);
      if (!event.ctrlKey && !event.metaKey && !is_free) event.stopPropagation();
    });
    // From the panel's buttons, too, Escape leads back to the input.
    this.#panel.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      input.focus();
      gestures.key(event);
      event.stopPropagation();
    });
    this.list.node.addEventListener("click", (event) => this.#chosen(event, gestures));
    const { root } = this.#frame;
    root.addEventListener("focusout", (event) => {
      const next = (event as FocusEvent).relatedTarget;
      if (!(next instanceof Node && root.contains(next))) gestures.leave();
    });
    this.#elsewhere = (event) => {
      const is_away = event.type === "click" || (event as KeyboardEvent).key === "Escape";
      if (is_away && !event.composedPath().includes(root)) gestures.leave();
    };
  }

  /** Has the page's clicks and keys heeded while the list is open: it may be without the focus, which would leave. */
  #heedPage(is_heeded = this.isOpen): void {
    const change = is_heeded ? "addEventListener" : "removeEventListener";
    for (const type of ["click", "keydown"]) document[change](type, this.#elsewhere, true);
  }
}

/** What browsers report for keys that an input method consumes. */
const COMPOSING_KEY_CODE = 229;

/** Whether a key belongs to an input method that puts a word together. */
export function isComposing(event: KeyboardEvent): boolean {
  return event.isComposing || event.keyCode === COMPOSING_KEY_CODE;
}

function button(name: string, text: string, click: () => void): HTMLButtonElement {
  return element("button", { type: "button", class: name, part: name, hidden: true, click }, text);
}
