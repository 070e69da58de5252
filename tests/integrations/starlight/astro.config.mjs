import starlight from "@astrojs/starlight";
import siskin from "@siskin/starlight";
import { defineConfig } from "astro/config";

export default defineConfig({
  site: "https://example.org",
  base: "/docs",
  integrations: [starlight({ title: "Heron", plugins: [siskin({ limit: 5 })] })],
});
