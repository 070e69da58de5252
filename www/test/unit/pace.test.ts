/** How a list is drawn on quick and on slow machines. */
import assert from "node:assert/strict";
import { before, mock, test } from "node:test";
import { Pace } from "../../src/ui/pace.js";

/** The clock by which costs are measured: only drawing takes time, whatever else the machine does. */
let now_ms = 0;

before(() => {
  mock.method(performance, "now", () => now_ms);
  Object.assign(globalThis, { requestAnimationFrame: (drawn: () => void) => setImmediate(drawn) });
});

/** Draws ten pages, of which `known` are there and each other one takes so long; how many were there each
 * time. */
async function drawn(pace: Pace, page_ms: number, known = 0): Promise<number[]> {
  const counts: number[] = [];
  let there = known;
  const draw = (count: number) => {
    now_ms += (count - there) * page_ms;
    there = count;
    counts.push(count);
  };
  await pace.draw(10, known, draw);
  await frames(3);
  return counts;
}

/** What comes after so many frames. What a list cost is known two frames after it was drawn, however long these
 * take. */
async function frames(count: number): Promise<void> {
  for (let frame = 0; frame < count; frame++) {
    await new Promise<void>((drawn) => setImmediate(() => setTimeout(drawn)));
  }
}

test("a list that costs more than a frame makes the next one come in parts, after a pause", async () => {
  const pace = new Pace();
  assert.equal(pace.delay_ms, 60);
  assert.deepEqual(await drawn(pace, 4), [10]);
  assert.equal(pace.delay_ms, 200);
  const counts = await drawn(pace, 4);
  assert.ok(counts.length >= 5 && counts.at(-1) === 10, `${counts}`);
});

test("one cheap list does not make a machine quick, some do", async () => {
  const pace = new Pace();
  await drawn(pace, 4);
  await drawn(pace, 0);
  assert.equal(pace.delay_ms, 200);
  for (let list = 0; list < 50 && pace.delay_ms > 60; list++) await drawn(pace, 0);
  assert.deepEqual(await drawn(pace, 0), [10]);
});

test("pages that are there already take no part", async () => {
  const pace = new Pace();
  await drawn(pace, 4);
  const counts = await drawn(pace, 4, 8);
  assert.deepEqual(counts, [9, 10]);
});

test("frames that cost much by themselves do not make a list costly that is drawn in parts", async () => {
  const pace = new Pace();
  await drawn(pace, 5);
  const busy = (drawn: () => void) =>
    setImmediate(() => {
      drawn();
      // Between the frame's begin and its end, as the page's own work is.
      now_ms += 9;
    });
  const { requestAnimationFrame } = globalThis;
  Object.assign(globalThis, { requestAnimationFrame: busy });
  try {
    for (let list = 0; list < 30 && pace.delay_ms > 60; list++) {
      await drawn(pace, 0);
    }
    assert.equal(pace.delay_ms, 60);
  } finally {
    Object.assign(globalThis, { requestAnimationFrame });
  }
});

test("nothing is drawn of what another list replaces, or of what is stopped", async () => {
  const pace = new Pace();
  await drawn(pace, 10);
  const counts: number[] = [];
  const replaced = pace.draw(10, 0, (count) => void counts.push(count));
  await Promise.all([replaced, pace.draw(1, 0, () => {})]);
  const stopped = pace.draw(10, 0, (count) => void counts.push(count));
  pace.stop();
  await stopped;
  assert.deepEqual(counts, [1, 1]);
});

test("no page at all is a list too", async () => {
  const counts: number[] = [];
  await new Pace().draw(0, 0, (count) => void counts.push(count));
  assert.deepEqual(counts, [0]);
});
