import assert from "node:assert/strict";
import { test } from "node:test";
import { apart } from "../../src/edge/apart.js";

/** A load that is ended from outside, one after the other. */
function loads() {
  const begun: { done(value: string): void; fail(): void }[] = [];
  const load = () =>
    new Promise<string>((resolve, reject) => {
      begun.push({ done: resolve, fail: () => reject(new Error("lost")) });
    });
  return { begun, load };
}

test("what one has loaded the others take", async () => {
  const { begun, load } = loads();
  const get = apart(load);
  const all = [get(), get(), get()];
  begun[0]?.done("once");
  assert.deepEqual(await Promise.all(all), ["once", "once", "once"]);
  assert.equal(await get(), "once");
  assert.equal(begun.length, 1);
});

test("a failure is the first one's alone: the next loads it himself", async () => {
  const { begun, load } = loads();
  const get = apart(load);
  const [first, second] = [get(), get()];
  begun[0]?.fail();
  await assert.rejects(first, /lost/);
  while (begun.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  begun[1]?.done("again");
  assert.equal(await second, "again");
});

test("nobody waits for ever for one that never ends", async () => {
  const { begun, load } = loads();
  const get = apart(load, 60);
  void get();
  const second = get();
  while (begun.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  begun[1]?.done("mine");
  assert.equal(await second, "mine");
  begun[0]?.done("late");
  assert.equal(await get(), "mine", "what came first stays");
});

test("of many who are tired of waiting one alone loads it again", async () => {
  const { begun, load } = loads();
  const get = apart(load, 60);
  void get();
  const others = Array.from({ length: 20 }, () => get());
  while (begun.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  await new Promise((resolve) => setTimeout(resolve, 30));
  begun[1]?.done("once");
  assert.deepEqual(new Set(await Promise.all(others)), new Set(["once"]));
  assert.equal(begun.length, 2);
});
