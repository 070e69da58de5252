import assert from "node:assert/strict";
import { test } from "node:test";
import type { Progress } from "../../src/api.js";
import { openBundle } from "./bundle.js";

test("the opening's signal ends nothing that comes later", async () => {
  const opening = new AbortController();
  const search = await openBundle({ signal: opening.signal });
  opening.abort();
  const { results } = await search.query("share data between threads safely");
  assert.ok(results.length > 0);
  search.close();
});

test("a query's signal ends it at once, whatever is being fetched", async () => {
  let progress: Progress | undefined;
  const query = new AbortController();
  const onProgress = (seen: Progress) => {
    progress = seen;
    query.abort();
  };
  const search = await openBundle({ onProgress });
  const answer = search.query("share data", { mode: "full", signal: query.signal });
  await assert.rejects(answer, { code: "aborted" });
  assert.ok(progress !== undefined && progress.loaded_bytes < progress.total_bytes);
  search.close();
});
