import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Tab } from "./harness.js";

const AXE = readFileSync(
  join(process.env.SISKIN_REPOSITORY ?? ".", "www/node_modules/axe-core/axe.min.js"),
  "utf8",
);

/** Rules of axe-core that are broken, each with the nodes that break it. */
export async function violations(tab: Tab): Promise<string[]> {
  await tab.page.evaluate(AXE);
  return tab.page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(): Promise<AxeResults> } };
    interface AxeResults {
      violations: { id: string; nodes: { html: string; failureSummary: string }[] }[];
    }
    const found = (await axe.run()).violations;
    return found.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html}: ${failureSummary}`),
    );
  });
}
