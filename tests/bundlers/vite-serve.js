/** `node vite-serve.js PAGE PUBLIC`: Vite's development server, which serves the files of PUBLIC as they
 * are. Prints its address. */
import { createServer } from "vite";

const [root, publicDir] = process.argv.slice(2);
const common = { root, publicDir, configFile: false, logLevel: "warn" };
// What Vite prepares beforehand goes beside the page, not into this folder's node_modules.
const server = await createServer({ ...common, cacheDir: `${root}/.vite`, server: { port: 0 } });
await server.listen();
process.stdout.write(`${server.resolvedUrls.local[0]}\n`);
