import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { IndexError } from "./index-error.js";

/** The command, and the environment in which it finds what belongs to it. */
export interface Command {
  program: string;
  env: NodeJS.ProcessEnv;
}

/** The package with the command for this platform; one of the main package's optional dependencies. */
const PLATFORM = `@siskin/${process.platform}-${process.arch}`;
const PROGRAM = process.platform === "win32" ? "siskin.exe" : "siskin";
const ENCODER = "@siskin/encoder-en";

const packages = createRequire(import.meta.url);

/** The command that came with the package, or the one that `SISKIN_BINARY` names.
 *
 * Variables that are set already count more. Throws `unsupported` where there is no command. */
export function findCommand(): Command {
  const encoder = resolved(`${ENCODER}/encoder.json`);
  const env = {
    SISKIN_RUNTIME: fileURLToPath(new URL("../dist/", import.meta.url)),
    ...(encoder !== undefined && { SISKIN_ENCODER: dirname(encoder) }),
    ...process.env,
  };
  const named = process.env.SISKIN_BINARY;
  if (named) return { program: named, env };
  const program = resolved(`${PLATFORM}/bin/${PROGRAM}`);
  if (program !== undefined && existsSync(program)) return { program, env };
  throw new IndexError(
    "unsupported",
    `The package ${PLATFORM} with the siskin command is not installed. Install siskin with its optional ` +
      "dependencies; if there is none for this platform, compile the command (cargo install siskin-cli) " +
      "and name it in the environment variable SISKIN_BINARY.",
  );
}

/** The file of a package, if that is installed. */
function resolved(file: string): string | undefined {
  try {
    return packages.resolve(file);
  } catch {
    return undefined;
  }
}
