import { cut } from "./bounds.js";

/** Where searches are kept, in the reader's own browser and for this site alone. */
const KEY = "siskin-recent";

const MAXIMUM_SEARCHES = 10;
const MAXIMUM_CHARACTERS = 200;

/** The part of `localStorage` that is needed. */
export type Store = Pick<Storage, "getItem" | "setItem" | "removeItem">;

/** Searches that led to a result, the latest first. Where nothing may be stored there are none. */
export class RecentSearches {
  readonly #store: () => Store;

  /** `store` may throw, as `localStorage` does where cookies are refused. */
  constructor(store: () => Store) {
    this.#store = store;
  }

  read(): string[] {
    try {
      const kept: unknown = JSON.parse(this.#store().getItem(KEY) ?? "[]");
      return Array.isArray(kept) ? kept.filter(isSearch).slice(0, MAXIMUM_SEARCHES) : [];
    } catch {
      return [];
    }
  }

  add(search: string): void {
    if (!isSearch(search)) return;
    const others = this.read().filter((kept) => kept !== search);
    this.#attempt((store) => {
      store.setItem(KEY, JSON.stringify([search, ...others].slice(0, MAXIMUM_SEARCHES)));
    });
  }

  clear(): void {
    this.#attempt((store) => store.removeItem(KEY));
  }

  #attempt(change: (store: Store) => void): void {
    try {
      change(this.#store());
    } catch {
      // A full or refused store costs the reader a convenience only.
    }
  }
}

function isSearch(kept: unknown): kept is string {
  return typeof kept === "string" && kept.trim() !== "" && cut(kept, MAXIMUM_CHARACTERS) === kept;
}
