import css from "./frame.css";
import { element } from "./nodes.js";
import { addStyle } from "./style.js";

/** What a page shows before anybody searches: the input and its name. */
export class Frame {
  readonly root: ShadowRoot;
  readonly input = element("input", {
    id: "input",
    part: "input",
    type: "search",
    role: "combobox",
    "aria-autocomplete": "list",
    "aria-controls": "list",
    "aria-expanded": "false",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    enterkeyhint: "search",
  });
  /** Where the results belong. */
  readonly place: ParentNode & Node;
  /** True while an input method puts a word together. */
  isComposing = false;
  readonly #label = element("label", { for: "input" });

  constructor(host: HTMLElement) {
    this.root = host.attachShadow({ mode: "open", delegatesFocus: true });
    this.place = this.root;
    addStyle(this.root, css);
    this.root.append(this.#label, this.input);
    for (const type of ["compositionstart", "compositionend"]) {
      this.input.addEventListener(type, () => {
        this.isComposing = type === "compositionstart";
      });
    }
  }

  name(label: string, placeholder: string): void {
    this.#label.textContent = label;
    this.input.placeholder = placeholder;
  }

  get label(): string {
    return this.#label.textContent;
  }
}
