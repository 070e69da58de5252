/** `node vite.js PAGE OUT`: the page as Vite builds it. */
import { build } from "vite";

const [root, outDir] = process.argv.slice(2);
const common = { root, base: "./", configFile: false, logLevel: "warn" };
await build({ ...common, build: { outDir, emptyOutDir: true } });
