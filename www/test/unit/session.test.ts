/** A bundle that is opened anew when it has to be. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Answer, Search } from "../../src/api.js";
import { SearchError, type SearchErrorCode } from "../../src/errors.js";
import { Session } from "../../src/session.js";

/** Bundles that are opened one after the other; each fails with its code, if it has one. */
function bundles(...codes: (SearchErrorCode | undefined)[]) {
  const closed: number[] = [];
  let opened_count = 0;
  const open = async (): Promise<Search> => {
    const number = opened_count++;
    return {
      offline: Promise.resolve("unavailable"),
      close: () => void closed.push(number),
      query: async (text) => {
        const code = codes[number];
        if (code !== undefined) throw new SearchError(code, `bundle ${number}`);
        return { query: `${text} ${number}`, mode: "table" } as Answer;
      },
    };
  };
  const session = new Session(open, open(), () => {});
  const ask = async (text: string) => (await session.query(text, {})).query;
  return { ask, session, closed, count: () => opened_count };
}

test("an index that was replaced is opened anew, once for all questions", async () => {
  const { ask, closed, count } = bundles("closed");
  assert.deepEqual(await Promise.all([ask("a"), ask("b"), ask("c")]), ["a 1", "b 1", "c 1"]);
  assert.deepEqual([count(), closed], [2, [0]]);
});

test("an index that is replaced for ever is not opened for ever", async () => {
  const { ask, count } = bundles("closed", "closed", "closed");
  await assert.rejects(ask("a"), { code: "closed" });
  assert.equal(count(), 2);
});

test("what was closed here is not opened again by a question that was waiting", async () => {
  const { ask, session, count } = bundles("closed");
  const waiting = ask("a");
  session.close();
  await assert.rejects(waiting, { code: "closed" });
  assert.equal(count(), 1);
});

test("after a trap the next question opens it anew; other failures leave it open", async () => {
  const trapped = bundles("internal");
  await assert.rejects(trapped.ask("a"), { code: "internal" });
  assert.equal(await trapped.ask("a"), "a 1");
  const failing = bundles("network");
  await assert.rejects(failing.ask("a"), { code: "network" });
  await assert.rejects(failing.ask("a"), { code: "network" });
  assert.equal(failing.count(), 1);
});
