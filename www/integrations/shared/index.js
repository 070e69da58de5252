// @ts-check
import { index } from "siskin";

export { boxAttributes, scriptAddress } from "./options.js";

/** @type {typeof import("./index.d.ts").indexSite} */
export async function indexSite(folder, warn) {
  const report = await index(folder);
  for (const { path, reason, problem } of report.skipped) {
    if (problem) warn(`siskin left out ${path}: ${reason}`);
  }
  for (const path of report.bad_bytes) warn(`siskin replaced bytes that mean nothing in ${path}`);
  return `siskin: ${report.pages} pages, ${report.passages} passages: ${report.output}`;
}
