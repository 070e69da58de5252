/** What the packages for generators that run in Node share; Python's have the same cases in
 * www/integrations/shared-python/test_options.py. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import {
  type BoxOptions,
  boxAttributes,
  scriptAddress,
} from "../../integrations/shared/options.js";

interface Case {
  options: Record<string, unknown>;
  /** What comes of them; or `error`, with which the message begins. */
  attributes?: Record<string, string>;
  error?: string;
}

const file = join(process.env.SISKIN_REPOSITORY ?? "", "tests/cases/box-options.json");
const CASES: Case[] = JSON.parse(readFileSync(file, "utf8"));

for (const { options, attributes, error } of CASES) {
  test(`options of a generator's package: ${JSON.stringify(options)}`, () => {
    const given = () => boxAttributes(options as BoxOptions, "here");
    if (attributes !== undefined) assert.deepEqual(given(), attributes);
    else assert.throws(given, ({ message }: Error) => message.startsWith(`here: ${error}`));
  });
}

test("an option that is left out by name is as one that is not there", () => {
  const options = { limit: undefined, modal: undefined } as unknown as BoxOptions;
  assert.deepEqual(boxAttributes(options, "here"), { modal: "" });
});

test("the script stands below the site's first folder", () => {
  assert.equal(scriptAddress("/"), "/siskin/siskin.js");
  assert.equal(scriptAddress("/docs"), "/docs/siskin/siskin.js");
  assert.equal(scriptAddress("/docs/"), "/docs/siskin/siskin.js");
  assert.equal(scriptAddress("https://example.org/"), "https://example.org/siskin/siskin.js");
});
