import assert from "node:assert/strict";
import { test } from "node:test";
import type { SearchError } from "../../src/errors.js";
import { startLocal } from "../../src/local.js";

test("after a failed import the script is asked for at another address", async () => {
  const script = new URL("file:///absent/siskin-worker.js");
  const failures = [];
  for (let times = 0; times < 2; times += 1) {
    failures.push((await startLocal(script).catch((error) => error)) as SearchError);
  }
  assert.deepEqual(
    failures.map(({ code }) => code),
    ["network", "network"],
  );
  assert.doesNotMatch(failures[0]?.message ?? "", /retry/);
  assert.match(failures[1]?.message ?? "", /siskin-worker\.js\?retry=1/);
});
