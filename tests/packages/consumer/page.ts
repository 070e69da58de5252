/** A page's script in TypeScript; compiled against the installed package, never run. */
import { defineBox, open, type Result, type Search, SearchError } from "siskin";
import "siskin/box";
import { open as byItsOwnName } from "siskin/browser";
import { index } from "siskin/node";

const search: Search = await open("/docs/siskin/", { worker: "never" });
const { results } = await search.query("a question");
const first: Result | undefined = results[0];
await defineBox(new URL("/docs/siskin/", location.href));

// @ts-expect-error: pages do not index.
import { index as inPages } from "siskin";

export function told(error: unknown): string {
  return error instanceof SearchError && error.code === "network" ? error.message : "";
}

export { byItsOwnName, first, index, inPages };
