// @ts-check
import { index } from "siskin";

/** What an option may be: `boolean`, `text`, or the values that there are.
 * @type {Record<string, "boolean" | "text" | "limit" | string[]>} */
const KINDS = {
  modal: "boolean",
  mode: ["words", "table", "full"],
  encoder: ["off", "idle", "on-open"],
  limit: "limit",
  label: "text",
  placeholder: "text",
  shortcuts: "text",
  "query-parameter": "text",
  "text-fragments": ["off"],
  recent: "boolean",
};

/** @type {typeof import("./index.d.ts").boxAttributes} */
export function boxAttributes(options, place) {
  /** @type {Record<string, string>} */
  const attributes = {};
  for (const [name, value] of Object.entries({ modal: true, ...options })) {
    const kind = KINDS[name];
    if (kind === undefined) {
      const names = Object.keys(KINDS).join(", ");
      throw new Error(`${place}: there is no option ${name}; there are ${names}`);
    }
    if (value === undefined || value === false) continue;
    const wanted = complaint(kind, value);
    if (wanted !== undefined) throw new Error(`${place}: ${name} must be ${wanted}`);
    attributes[name] = value === true ? "" : String(value);
  }
  return attributes;
}

/** What a value of this kind would be, if `value` is none.
 * @param {typeof KINDS[string]} kind
 * @param {unknown} value
 * @returns {string | undefined} */
function complaint(kind, value) {
  if (kind === "boolean") return value === true ? undefined : "true or false";
  if (kind === "text") return typeof value === "string" ? undefined : "a text";
  if (kind === "limit") {
    const is_limit = Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 100;
    return is_limit ? undefined : "a number from 1 to 100";
  }
  return kind.includes(String(value)) ? undefined : `one of ${kind.join(", ")}`;
}

/** @type {typeof import("./index.d.ts").scriptAddress} */
export function scriptAddress(base) {
  return `${base.replace(/\/?$/, "/")}siskin/siskin.js`;
}

/** @type {typeof import("./index.d.ts").indexSite} */
export async function indexSite(folder, warn) {
  const report = await index(folder);
  for (const { path, reason, problem } of report.skipped) {
    if (problem) warn(`siskin left out ${path}: ${reason}`);
  }
  for (const path of report.bad_bytes) warn(`siskin replaced bytes that mean nothing in ${path}`);
  return `siskin: ${report.pages} pages, ${report.passages} passages: ${report.output}`;
}
