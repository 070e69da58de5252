import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Builder, type WebDriver } from "selenium-webdriver";
import * as chrome from "selenium-webdriver/chrome.js";
import * as firefox from "selenium-webdriver/firefox.js";
import { CHROMIUM, CHROMIUM_ARGUMENTS } from "./harness.js";

/** A browser that runs, and how it ends. */
export interface Running {
  driver: WebDriver;
  stop(): Promise<void>;
}

/** A browser that speaks WebDriver. All are started in light colours and with reduced motion. */
export interface Engine {
  name: "Chromium" | "Firefox" | "WebKitGTK";
  /** Programs that this machine lacks for it. */
  missing: string[];
  start(): Promise<Running>;
}

/** The first of these programs on PATH. */
function findProgram(...names: string[]): string | undefined {
  const folders = (process.env.PATH ?? "").split(delimiter);
  return names
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find((file) => existsSync(file));
}

function lacking(...programs: string[]): string[] {
  return programs.filter((name) => findProgram(name) === undefined);
}

/** A driver that runs. */
interface Service {
  /** Its address. */
  url: string;
  /** Ends it, and all that it has started. */
  end(): Promise<void>;
}

/** Starts a driver, to which the port is told, in a group of its own. The whole group ends with this
 * process too, however that ends: a shell waits for a pipe that is closed then. */
async function startService(
  program: string,
  argumentsFor: (port: number) => string[],
  env = process.env,
): Promise<Service> {
  const port = await freePort();
  const leader = spawn(program, argumentsFor(port), { detached: true, stdio: "ignore", env });
  const script = 'read -r _; kill -s TERM -- "-$0"';
  const watch = spawn("sh", ["-c", script, String(leader.pid)], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  const end = async () => {
    watch.kill();
    await endGroup(leader);
  };
  try {
    await untilListening(port);
  } catch (error) {
    await end();
    throw error;
  }
  return { url: `http://127.0.0.1:${port}`, end };
}

/** Has a browser started by the driver; where that fails, `end` is called too. */
async function startBrowser(builder: Builder, { url, end }: Service): Promise<Running> {
  try {
    const driver = await builder.usingServer(url).build();
    return { driver, stop: () => driver.quit().finally(end) };
  } catch (error) {
    await end();
    throw error;
  }
}

async function startChromium(): Promise<Running> {
  const options = new chrome.Options();
  options.setBinaryPath(CHROMIUM);
  options.addArguments(...CHROMIUM_ARGUMENTS, "--force-prefers-reduced-motion");
  const service = await startService("chromedriver", (port) => [`--port=${port}`]);
  return startBrowser(new Builder().forBrowser("chrome").setChromeOptions(options), service);
}

const FIREFOX_NAMES = ["firefox-esr", "firefox"];

async function startFirefox(): Promise<Running> {
  const options = new firefox.Options();
  options.setBinary(findProgram(...FIREFOX_NAMES) ?? "");
  options.addArguments("--headless");
  options.setPreference("ui.prefersReducedMotion", 1);
  options.setPreference("ui.systemUsesDarkTheme", 0);
  const service = await startService("geckodriver", (port) => [`--port=${port}`]);
  return startBrowser(new Builder().forBrowser("firefox").setFirefoxOptions(options), service);
}

/** Debian keeps WebKitGTK's own browser beside the library. */
function miniBrowser(): string | undefined {
  const machine = { x64: "x86_64", arm64: "aarch64" }[process.arch as string] ?? process.arch;
  return ["4.1", "6.0", "4.0"]
    .map((version) => `/usr/lib/${machine}-linux-gnu/webkit2gtk-${version}/MiniBrowser`)
    .find((file) => existsSync(file));
}

/** WebKitGTK draws on a display of its own, and asks GTK's settings whether things may move. */
async function startWebKit(): Promise<Running> {
  const settings = mkdtempSync(join(tmpdir(), "siskin-webkit-"));
  mkdirSync(join(settings, "gtk-3.0"));
  writeFileSync(join(settings, "gtk-3.0/settings.ini"), "[Settings]\ngtk-enable-animations=0\n");
  const forget = () => rmSync(settings, { recursive: true, force: true });
  const display = ["--auto-servernum", "--server-args=-screen 0 1400x1200x24"];
  const service = await startService(
    "xvfb-run",
    (port) => [...display, "dbus-run-session", "--", "WebKitWebDriver", `--port=${port}`],
    { ...process.env, XDG_CONFIG_HOME: settings },
  ).catch((error: unknown) => {
    forget();
    throw error;
  });
  const builder = new Builder().withCapabilities({
    browserName: "MiniBrowser",
    "webkitgtk:browserOptions": { binary: miniBrowser(), args: ["--automation"] },
  });
  return startBrowser(builder, { ...service, end: () => service.end().finally(forget) });
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" ? (address?.port ?? 0) : 0));
    });
  });
}

async function untilListening(port: number): Promise<void> {
  for (let attempts = 0; attempts < 300; attempts++) {
    const is_ready = await fetch(`http://127.0.0.1:${port}/status`).then(
      () => true,
      () => false,
    );
    if (is_ready) return;
    await sleep(100);
  }
  throw new Error("the driver did not start within 30 seconds");
}

async function endGroup(leader: ChildProcess): Promise<void> {
  if (leader.pid === undefined || leader.exitCode !== null || leader.signalCode !== null) return;
  const ended = new Promise((resolve) => leader.once("exit", resolve));
  process.kill(-leader.pid, "SIGTERM");
  await ended;
}

/** Debian's, by chromedriver. */
export const CHROMIUM_ENGINE: Engine = {
  name: "Chromium",
  missing: [...lacking("chromedriver"), ...(existsSync(CHROMIUM) ? [] : [CHROMIUM])],
  start: startChromium,
};

/** The newest or, on Debian, the extended support release. */
export const FIREFOX_ENGINE: Engine = {
  name: "Firefox",
  missing: [
    ...lacking("geckodriver"),
    ...(findProgram(...FIREFOX_NAMES) === undefined ? ["firefox-esr"] : []),
  ],
  start: startFirefox,
};

/** The engine of GNOME's browser, which is near to Safari's. */
export const WEBKIT_ENGINE: Engine = {
  name: "WebKitGTK",
  missing: [
    ...lacking("xvfb-run", "dbus-run-session", "WebKitWebDriver"),
    ...(miniBrowser() === undefined ? ["MiniBrowser"] : []),
  ],
  start: startWebKit,
};
