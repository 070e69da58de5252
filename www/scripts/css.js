import { readFile } from "node:fs/promises";
import { transform } from "esbuild";

/** For esbuild: `import css from "./x.css"` gives the rules as a text without blanks and comments. */
export const cssAsText = {
  name: "css-as-text",
  setup(build) {
    build.onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const source = await readFile(path, "utf8");
      const target = ["chrome109", "firefox109", "safari16"];
      const { code } = await transform(source, { loader: "css", minify: true, target });
      // esbuild leaves variables as they are written.
      const contents = code.trim().replace(/(--[\w-]+[:,]) /g, "$1");
      return { contents, loader: "text" };
    });
  },
};
