import { siskin } from "@siskin/starlight";
import { defineConfig } from "astro/config";

export default defineConfig({
  site: "https://example.org",
  base: "/docs",
  integrations: [siskin({ limit: 5 })],
});
