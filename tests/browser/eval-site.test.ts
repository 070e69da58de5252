/** `siskin eval-site` beside a real Pagefind index: that of the project's demo. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { indexedSite } from "./harness.js";

const SITE = indexedSite("SISKIN_PROJECT_DIR", "demo/site");
const QUESTIONS = `stop the web server cleanly\t/ch21-03-graceful-shutdown-and-cleanup.html
shared state\t/ch16-03-shared-state.html
zzzz qqqq\t/ch16-03-shared-state.html
`;

const folder = mkdtempSync(join(tmpdir(), "siskin-eval-site-"));
after(() => rmSync(folder, { recursive: true }));

interface Asked {
  found: Record<string, number>;
  missed: { question: string; first: string | null }[];
}

interface Report {
  modes: (Asked & { mode: string })[];
  pagefind?: Asked;
}

function report(...options: string[]): Report {
  const queries = join(folder, "questions.tsv");
  writeFileSync(queries, QUESTIONS);
  const args = ["eval-site", SITE, "--queries", queries, "--json", ...options];
  try {
    execFileSync(process.env.SISKIN_BINARY ?? "siskin", args, { stdio: "pipe" });
  } catch (error) {
    // One question has no answer: exit code 1.
    const { status, stdout, stderr } = error as { status: number; stdout: Buffer; stderr: Buffer };
    assert.deepEqual([status, stderr.toString()], [1, ""]);
    return JSON.parse(stdout.toString());
  }
  throw new Error("a question without any answer was found");
}

test("Pagefind's own index is asked the same questions", () => {
  const { modes, pagefind } = report();
  assert.ok(pagefind);
  assert.equal(pagefind.found["10"], 2, "both that have an answer");
  const nothing = { question: "zzzz qqqq", expected: ["/ch16-03-shared-state.html"], first: null };
  assert.deepEqual(
    pagefind.missed.find(({ question }) => question === "zzzz qqqq"),
    nothing,
  );
  const table = modes.find(({ mode }) => mode === "table");
  assert.equal(table?.found["10"], 2);
});

test("without Pagefind nothing of it is reported", () => {
  assert.equal("pagefind" in report("--no-pagefind"), false);
});
