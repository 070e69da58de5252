import assert from "node:assert/strict";
import { test } from "node:test";
import { encoderChoice } from "../../src/ui/refinement.js";

test("the network is fetched unasked only where the page says when", () => {
  assert.equal(encoderChoice(null, {}), "off");
  assert.equal(encoderChoice("off", {}), "off");
  assert.equal(encoderChoice("always", {}), "off");
  assert.equal(encoderChoice("idle", {}), "idle");
  assert.equal(encoderChoice("on-open", {}), "on-open");
});

test("it is not fetched for readers who save data, or on devices with little memory", () => {
  assert.equal(encoderChoice("idle", { connection: { saveData: true } }), "off");
  assert.equal(encoderChoice("idle", { connection: { saveData: false } }), "idle");
  assert.equal(encoderChoice("idle", { deviceMemory: 1 }), "off");
  assert.equal(encoderChoice("idle", { deviceMemory: 2 }), "idle");
});
