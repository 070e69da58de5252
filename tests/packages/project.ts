import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

/** What `cargo xtask package` wrote. */
const PACKAGES = resolve(process.env.SISKIN_PACKAGES_DIR ?? "");

/** The checkout: for the sample site and the compiler, never for what is tested. */
export const REPOSITORY = resolve(process.env.SISKIN_REPOSITORY ?? ".");

/** A question, and the result that must come first. */
export const QUESTION = "stop a request halfway";
export const ANSWER = "/guide/requests/#cancel-a-request";

/** An empty folder of its own with the sample site in `site`, as MkDocs wrote it. */
export class Project {
  readonly folder = mkdtempSync(join(tmpdir(), "siskin-project-"));
  /** Nothing of the test's own environment tells the installed packages where things are. */
  readonly env: NodeJS.ProcessEnv;

  constructor() {
    const inherited = Object.entries(process.env);
    const clean = inherited.filter(([name]) => !/^(siskin|npm)_/i.test(name));
    this.env = { ...Object.fromEntries(clean), XDG_CACHE_HOME: this.path(".cache") };
    cpSync(join(REPOSITORY, "tests/sites/mkdocs-material"), this.path("site"), { recursive: true });
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  write(name: string, content: string): void {
    writeFileSync(this.path(name), content);
  }

  /** Standard output of a program that must succeed. */
  run(program: string, args: string[], env: NodeJS.ProcessEnv = {}): string {
    const options = { cwd: this.folder, env: { ...this.env, ...env }, encoding: "utf8" } as const;
    return execFileSync(program, args, { ...options, stdio: ["ignore", "pipe", "inherit"] });
  }

  /** Installs the npm packages from their files alone: no registry is asked. */
  installFromNpm(): void {
    this.write("package.json", '{ "private": true, "type": "module" }\n');
    const files = [
      /^siskin-\d.*\.tgz$/,
      /^siskin-encoder-.*\.tgz$/,
      /^siskin-[a-z0-9]+-[a-z0-9]+-\d.*\.tgz$/,
    ];
    const options = [
      "--offline",
      "--ignore-scripts",
      "--no-audit",
      "--no-fund",
      "--loglevel=error",
    ];
    this.run("npm", ["install", ...options, ...files.flatMap((name) => artefacts(name))]);
  }

  /** Indexes the site with an installed command, checks the index and asks it. */
  indexAndSearch(siskin: string): void {
    this.run(siskin, ["index", "site", "--quiet"]);
    this.run(siskin, ["verify", "site", "--quiet"]);
    for (const mode of ["table", "full"]) {
      const found = this.run(siskin, ["search", "site", QUESTION, "--mode", mode, "--json"]);
      const { results } = JSON.parse(found) as { results: { url: string }[] };
      assert.equal(results[0]?.url, ANSWER, mode);
    }
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }
}

/** The files among the packages whose names are so; at least one. */
export function artefacts(name: RegExp): string[] {
  const found = readdirSync(PACKAGES).filter((file) => name.test(file));
  assert.ok(found.length > 0, `no ${name} in ${PACKAGES}; run cargo xtask package`);
  return found.map((file) => join(PACKAGES, file));
}
