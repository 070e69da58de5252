/** `siskin` on npm: runs the platform's command with the same arguments, and ends as it does. */
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { findCommand } from "./command.js";

/** As of the command itself, when it failed. */
const FAILED = 2;
/** Shells add the signal's number to it. */
const SIGNALLED = 128;

const PASSED_ON = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

function fail(error: Error): void {
  process.stderr.write(`error: ${error.message}\n`);
  process.exitCode = FAILED;
}

try {
  const { program, env } = findCommand();
  const child = spawn(program, process.argv.slice(2), { stdio: "inherit", env });
  for (const signal of PASSED_ON) process.on(signal, () => child.kill(signal));
  child.on("error", (error) => fail(new Error(`${program} cannot be run: ${error.message}`)));
  child.on("exit", (code, signal) => {
    process.exitCode = signal === null ? (code ?? FAILED) : SIGNALLED + constants.signals[signal];
  });
} catch (error) {
  fail(error as Error);
}
