import type { Match, Mode } from "../api.js";
import type { SearchError } from "../errors.js";
import type { Part } from "./rows.js";
import { pairsOf, whyOf } from "./why.js";
import type { Words } from "./words.js";

/** Characters of a question that are repeated to the reader. */
const MAXIMUM_QUOTED = 80;

/** Suggestions that are shown at most. */
const MAXIMUM_SUGGESTIONS = 3;

/** Pairs of words that are shown of each result unasked. */
const MAXIMUM_PAIRS = 3;

/** Words of each kind that are shown of each result at most, when the reader asks why it is there. */
const MAXIMUM_REASONS = 12;

/** The sentences of the box in one language. */
export class Phrases {
  readonly words: Words;
  readonly language: string;

  constructor(words: Words, language: string) {
    this.words = words;
    this.language = language;
  }

  resultCount(count: number, query: string): string {
    const { results } = this.words;
    const form = results[new Intl.PluralRules(this.language).select(count)] ?? results.other;
    return put(form, { n: this.#number(count), q: this.#quoted(query) });
  }

  noResults(query: string, suggestions: string[]): string {
    const near = suggestions.slice(0, MAXIMUM_SUGGESTIONS).map((word) => this.#quoted(word));
    const { none, hint } = this.words;
    const help = near.length === 0 ? hint : put(this.words.near, { q: this.#list(near) });
    return `${put(none, { q: this.#quoted(query) })} ${help}`;
  }

  /** `share`: from 0 to 1. */
  loadingNetwork(share: number): string {
    return put(this.words.network, { n: this.#number(share, { style: "percent" }) });
  }

  /** What went wrong, for a reader who knows nothing of files and checksums. */
  failure({ code, message }: SearchError): string {
    const { unreachable, damaged, stopped, unsupported, wordless } = this.words;
    switch (code) {
      case "network":
      case "late":
        return unreachable;
      case "corrupt":
      case "version":
        return damaged;
      case "unsupported":
        return unsupported ?? sentence(message);
      case "query":
        return wordless ?? sentence(message);
      default:
        return stopped;
    }
  }

  /** The reason that is shown unasked: words of like meaning. */
  pairs(matches: Match[]): Part[][] {
    const pairs = pairsOf(matches).slice(0, MAXIMUM_PAIRS);
    return pairs.length === 0 ? [] : [this.#unit(pairs)];
  }

  /** Why `matches` are a result for `question`. Without meaning, in mode `words`, nothing is close to it. */
  reasons(question: string, matches: Match[], mode: Mode): Part[][] {
    const { words, meanings, absent } = whyOf(question, matches);
    const forms = this.words;
    const reasons = [
      this.#reason(forms.found, words),
      this.#reason(forms.alike, meanings),
      this.#reason(forms.absent, absent),
    ];
    const is_whole = mode !== "words" && words.length + meanings.length === 0;
    const whole = is_whole ? [[{ text: forms.whole, isWord: false }]] : [];
    return [...whole, ...reasons.filter((parts) => parts.length > 0)];
  }

  /** A sentence with a place for `items`; nothing without any. */
  #reason(form: string, items: string[]): Part[] {
    if (items.length === 0) return [];
    const [before = "", after = ""] = form.split("{q}");
    const around = (text: string) => (text === "" ? [] : [{ text, isWord: false }]);
    return [...around(before), ...this.#unit(items.slice(0, MAXIMUM_REASONS)), ...around(after)];
  }

  #unit(items: string[]): Part[] {
    const format = new Intl.ListFormat(this.language, { type: "unit", style: "short" });
    return format
      .formatToParts(items)
      .map(({ type, value }) => ({ text: value, isWord: type === "element" }));
  }

  #number(value: number, options: Intl.NumberFormatOptions = {}): string {
    return new Intl.NumberFormat(this.language, options).format(value);
  }

  #list(items: string[]): string {
    return new Intl.ListFormat(this.language, { type: "disjunction" }).format(items);
  }

  #quoted(text: string): string {
    const [before, after] = this.words.quotes;
    const cut = text.length > MAXIMUM_QUOTED ? `${text.slice(0, MAXIMUM_QUOTED)}…` : text;
    return `${before}${cut}${after}`;
  }
}

/** Fills the places of a form; what is put in is not looked at again. */
function put(form: string, values: Record<string, string>): string {
  return form.replace(/\{(\w)\}/g, (place, name: string) => values[name] ?? place);
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
