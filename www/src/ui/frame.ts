import dark from "./dark.css";
import css from "./frame.css";
import { element } from "./nodes.js";
import { sheet } from "./style.js";
import { mediaOf, type Theme } from "./theme.js";

/** What a page shows before anybody searches: the input and its name, or the button that opens
 * them. */
export class Frame {
  readonly root: ShadowRoot;
  readonly input = element("input", {
    part: "input",
    type: "search",
    role: "combobox",
    "aria-expanded": "false",
    autocomplete: "off",
    autocapitalize: "off",
  });
  /** Where the results belong. In its place once it has a parent. */
  readonly box = element("div", { class: "box" }, this.input);
  /** Where the box is in a modal. */
  dialog: HTMLDialogElement | undefined;
  /** True while an input method puts a word together. */
  isComposing = false;
  readonly #dark = sheet(dark);
  readonly #name = element("span");
  /** Says that nothing further could be loaded. */
  readonly failure = element("div", { role: "alert" });

  constructor(host: HTMLElement) {
    this.root = host.attachShadow({ mode: "open", delegatesFocus: true });
    this.root.adoptedStyleSheets = [sheet(css), this.#dark];
  }

  /** Puts the box in its place; a `hint` of the shortcut stands on a modal's button. */
  build(is_modal: boolean, hint: string): void {
    if (!is_modal) {
      this.root.append(this.box, this.failure);
      return;
    }
    this.dialog = element("dialog", { part: "dialog" }, this.box);
    const attributes = { part: "button", click: () => this.show() };
    const shortcut = element("kbd", { part: "shortcut", "aria-hidden": "true" }, hint);
    this.root.append(
      element("button", attributes, this.#name, " ", shortcut),
      this.dialog,
      this.failure,
    );
  }

  /** Shows the modal, if it is one, and puts the cursor into the input. */
  show(): void {
    if (this.dialog?.open === false) this.dialog.showModal();
    this.input.focus();
  }

  name(label: string, placeholder: string): void {
    this.#name.textContent = label;
    // As a property it is unknown to Firefox before 119.
    this.input.setAttribute("aria-label", label);
    this.dialog?.setAttribute("aria-label", label);
    this.input.placeholder = placeholder;
  }

  /** Nothing further can be loaded; typing tries again. */
  fail(): void {
    this.dialog?.close();
    this.failure.textContent = "Search could not be loaded. Check your connection.";
  }

  dress(theme: Theme): void {
    this.#dark.media.mediaText = mediaOf(theme);
  }
}
