import { defineConfig } from "vitepress";

export default defineConfig({
  lang: "en-US",
  title: "Heron",
  description: "A small client for web services",
  cleanUrls: false,
  lastUpdated: false,
  markdown: {
    lineNumbers: true,
    config(md) {
      // VitePress draws the ids of tabs by lot; here each build is to be the same.
      const open = md.renderer.rules["container_code-group_open"]!;
      md.renderer.rules["container_code-group_open"] = (...args) =>
        open(...args).replace(/\b(group|tab)-[\w-]+/g, "$1-1");
    },
  },
  transformHead({ pageData }) {
    return pageData.frontmatter.robots
      ? [["meta", { name: "robots", content: pageData.frontmatter.robots }]]
      : [];
  },
  themeConfig: {
    nav: [
      { text: "Home", link: "/" },
      { text: "Guide", link: "/guide/install", activeMatch: "/guide/" },
      { text: "Reference", link: "/reference/options", activeMatch: "/reference/" },
    ],
    sidebar: [
      {
        text: "Guide",
        items: [
          { text: "Installation", link: "/guide/install" },
          { text: "Making requests", link: "/guide/requests" },
          { text: "Reading large answers", link: "/guide/streams" },
        ],
      },
      {
        text: "Reference",
        collapsed: false,
        items: [
          { text: "Options", link: "/reference/options" },
          { text: "Errors", link: "/reference/errors" },
        ],
      },
    ],
    editLink: { pattern: "https://example.org/heron/edit/main/docs/:path" },
    search: { provider: "local" },
    socialLinks: [{ icon: "github", link: "https://example.org/heron" }],
    footer: { message: "Released under the MIT License.", copyright: "Copyright Heron's authors" },
  },
});
