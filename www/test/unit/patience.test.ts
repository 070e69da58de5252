/** How long works are waited for that take longer than others. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { settledInTime } from "../../src/patience.js";

function outcomesOf(outcomes: PromiseSettledResult<string>[]): string {
  return outcomes
    .map((outcome) => (outcome.status === "fulfilled" ? outcome.value : `no ${outcome.reason}`))
    .join(", ");
}

test("after the first success each has its own patience, and is called late once", async () => {
  const late: number[] = [];
  const works = [
    setTimeout(20, "a"),
    setTimeout(60, "b"),
    setTimeout(200, "c"),
    setTimeout(400, "d"),
  ];
  const outcomes = await settledInTime(
    works,
    (index) => (index === 1 ? 5000 : 50),
    (index) => {
      late.push(index);
      return index;
    },
  );
  assert.equal(outcomesOf(outcomes), "a, b, no 2, no 3");
  await Promise.all(works);
  assert.deepEqual(late, [2, 3]);
});

test("what settles while others are waited for counts, though its time is over", async () => {
  const works = [setTimeout(5, "a"), setTimeout(60, "b"), setTimeout(120, "c")];
  const patience_ms = (index: number) => (index === 1 ? 10 : 5000);
  assert.equal(outcomesOf(await settledInTime(works, patience_ms, () => "time")), "a, b, c");
});

test("before one has succeeded all are waited for, however many fail", async () => {
  const works = [Promise.reject("a"), setTimeout(60, "b")];
  const outcomes = await settledInTime(
    works,
    () => 10,
    () => "time",
  );
  assert.equal(outcomesOf(outcomes), "no a, b");
  assert.deepEqual(await settledInTime([], () => 10, String), []);
});
