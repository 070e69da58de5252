/** How a list is drawn on quick and on slow machines. */
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { Pace } from "../../src/ui/pace.js";

before(() => {
  Object.assign(globalThis, { requestAnimationFrame: (drawn: () => void) => setImmediate(drawn) });
});

/** Draws ten pages, each of which takes so long, and tells how many were there each time. */
async function drawn(pace: Pace, page_ms: number): Promise<number[]> {
  const counts: number[] = [];
  let there = 0;
  const draw = (count: number) => {
    const end_ms = performance.now() + (count - there) * page_ms;
    while (performance.now() < end_ms);
    there = count;
    counts.push(count);
  };
  assert.ok(await pace.draw(10, draw));
  // What it cost is known a frame later.
  await setTimeout(20);
  return counts;
}

test("a list that costs more than a frame makes the next one come in parts, after a pause", async () => {
  const pace = new Pace();
  assert.equal(pace.delay_ms, 60);
  assert.deepEqual(await drawn(pace, 4), [10]);
  assert.equal(pace.delay_ms, 200);
  const counts = await drawn(pace, 4);
  assert.ok(counts.length >= 5 && counts.at(-1) === 10, `${counts}`);
  // One cheap list does not make the machine quick, some do.
  await drawn(pace, 0);
  assert.equal(pace.delay_ms, 200);
  for (let list = 0; list < 9; list++) await drawn(pace, 0);
  assert.equal(pace.delay_ms, 60);
  assert.deepEqual(await drawn(pace, 0), [10]);
});

test("nothing is drawn of what another list replaces, or of what is stopped", async () => {
  const pace = new Pace();
  await drawn(pace, 10);
  const counts: number[] = [];
  const replaced = pace.draw(10, (count) => void counts.push(count));
  const other = pace.draw(1, () => {});
  assert.deepEqual([await replaced, await other], [false, true]);
  const stopped = pace.draw(10, (count) => void counts.push(count));
  pace.stop();
  assert.equal(await stopped, false);
  assert.deepEqual(counts, [1, 1]);
});

test("no page at all is a list too", async () => {
  const counts: number[] = [];
  assert.ok(await new Pace().draw(0, (count) => void counts.push(count)));
  assert.deepEqual(counts, [0]);
});
