import { type Condition, DEFAULT_LIMIT, MAXIMUM_LIMIT, MODES, type Mode } from "../api.js";
import { folderUrl, RUNTIME } from "../places.js";
import { type Device, type EncoderChoice, encoderChoice } from "./refinement.js";

/** What the attributes of the element say; read anew each time, and valid whatever they hold. */
export class Settings {
  readonly #host: HTMLElement;

  constructor(host: HTMLElement) {
    this.#host = host;
  }

  get mode(): Mode {
    return MODES.find((mode) => mode === this.#host.getAttribute("mode")) ?? "table";
  }

  get limit(): number {
    const limit = Number(this.#host.getAttribute("limit") ?? DEFAULT_LIMIT);
    return Number.isInteger(limit) && limit >= 1 && limit <= MAXIMUM_LIMIT ? limit : DEFAULT_LIMIT;
  }

  /** Names of the filters that the reader may choose by. */
  get filters(): string[] {
    return listed(this.#host.getAttribute("filters"));
  }

  /** What the page itself asks for: pairs such as `kind: guide`, of which every filter has to have one. */
  get filter(): Condition | undefined {
    const values = new Map<string, Condition[]>();
    for (const pair of listed(this.#host.getAttribute("filter"))) {
      // A value may hold colons itself.
      const [, filter = pair, value = ""] = /^([^:]*?)\s*:\s*(.*)$/s.exec(pair) ?? [];
      values.set(filter, [...(values.get(filter) ?? []), { filter, value }]);
    }
    return values.size === 0 ? undefined : { all: [...values.values()].map((any) => ({ any })) };
  }

  /** The language of the page, whatever that of the box, unless all are wanted. */
  get language(): string {
    const is_all = this.#host.getAttribute("languages") === "all";
    return is_all ? "" : document.documentElement.lang;
  }

  get encoder(): EncoderChoice {
    return encoderChoice(this.#host.getAttribute("encoder"), navigator as Device);
  }

  /** Text fragments, where the browser follows them. */
  get pointsAtText(): boolean {
    const is_off = this.#host.getAttribute("text-fragments") === "off";
    return !is_off && "fragmentDirective" in document;
  }

  get keepsRecent(): boolean {
    return this.#host.hasAttribute("recent");
  }

  get isInline(): boolean {
    return this.#host.hasAttribute("inline");
  }

  /** Where result addresses begin: the folder that holds the bundle's folder. Those of several bundles
   * are whole. */
  get site(): URL {
    const [site] = this.#words("site");
    const [bundle = RUNTIME] = this.#words("bundle");
    return site === undefined ? folderUrl("..", folderUrl(bundle)) : folderUrl(site);
  }

  #words(name: string): string[] {
    return this.#host.getAttribute(name)?.match(/\S+/g) ?? [];
  }
}

/** The items of a list between commas. */
function listed(text: string | null): string[] {
  const items = (text ?? "").split(",").map((item) => item.trim());
  return items.filter((item) => item !== "");
}
