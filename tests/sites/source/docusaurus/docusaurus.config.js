const { themes } = require("prism-react-renderer");

module.exports = {
  title: "Heron",
  tagline: "A small client for web services",
  url: "https://example.org",
  baseUrl: "/",
  trailingSlash: false,
  onBrokenLinks: "throw",
  markdown: { format: "detect" },
  presets: [
    [
      "classic",
      {
        docs: {
          routeBasePath: "/",
          sidebarPath: "./sidebars.js",
          editUrl: "https://example.org/heron/edit/main/",
          showLastUpdateTime: false,
        },
        blog: false,
      },
    ],
  ],
  plugins: [
    ["@docusaurus/plugin-client-redirects", { redirects: [{ from: "/install", to: "/guide/install" }] }],
  ],
  themeConfig: {
    navbar: {
      title: "Heron",
      items: [
        { type: "docSidebar", sidebarId: "docs", position: "left", label: "Docs" },
        { to: "/tags", label: "Tags", position: "left" },
        { href: "https://example.org/heron", label: "GitHub", position: "right" },
      ],
    },
    footer: {
      style: "dark",
      links: [{ title: "Docs", items: [{ label: "Installation", to: "/guide/install" }] }],
      copyright: "Copyright Heron's authors. Built with Docusaurus.",
    },
    prism: { theme: themes.github, darkTheme: themes.dracula },
  },
};
