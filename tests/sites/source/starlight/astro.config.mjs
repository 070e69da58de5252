import starlight from "@astrojs/starlight";
import { defineConfig } from "astro/config";

export default defineConfig({
  site: "https://example.org",
  redirects: { "/install": "/guide/install/" },
  integrations: [
    starlight({
      title: "Heron",
      description: "A small client for web services",
      lastUpdated: false,
      editLink: { baseUrl: "https://example.org/heron/edit/main/" },
      social: [{ icon: "github", label: "GitHub", href: "https://example.org/heron" }],
      sidebar: [
        {
          label: "Guide",
          items: ["guide/install", "guide/requests", "guide/streams"],
        },
        { label: "Reference", autogenerate: { directory: "reference" } },
      ],
    }),
  ],
});
