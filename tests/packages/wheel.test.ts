/** The wheel, installed by pip into an environment of its own. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { artefacts, Project } from "./project.js";

const project = new Project();
after(() => project.remove());

/** Where environments have their programs. */
const PROGRAMS = process.platform === "win32" ? "Scripts" : "bin";

test("pip install, siskin index, siskin search", () => {
  const wheels = artefacts(/\.whl$/);
  assert.equal(wheels.length, 1, "one wheel for this platform");
  project.run("python3", ["-m", "venv", "--without-pip", "venv"]);
  const python = project.path(join("venv", PROGRAMS, "python"));
  const alone = ["--no-index", "--no-deps", "--quiet"];
  project.run("python3", ["-m", "pip", "--python", python, "install", ...alone, ...wheels]);
  const siskin = project.path(join("venv", PROGRAMS, "siskin"));
  assert.match(project.run(siskin, ["--version"]), /^siskin \d+\.\d+\.\d+/);
  project.indexAndSearch(siskin);
  assert.ok(existsSync(project.path("site/siskin/siskin.js")), "the browser's files are there");
});
