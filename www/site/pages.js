/** The pages that are Markdown, in the order of the navigation. `source` is a file of the repository:
 * its documents are the pages, and there are no copies of them. */
export const GROUPS = [
  {
    name: "On your site",
    pages: [
      page("getting-started", "www/site/guides/getting-started.md", "Getting started"),
      page("options", "www/site/guides/options.md", "Options and attributes"),
      page("theming", "www/site/guides/theming.md", "Colours and themes"),
      page("offline", "www/site/guides/offline.md", "Without a connection"),
      page("node", "www/site/guides/node.md", "Node and the command line"),
      page("edge", "docs/edge.md", "Edge workers"),
      page("sites", "docs/sites.md", "Generators, siskin.toml"),
      page("packages", "docs/packages.md", "npm, pip, cargo"),
      page("search-box", "docs/search-box.md", "What the box looks like"),
      page("api", "www/README.md", "Element and API"),
    ],
  },
  {
    name: "In your generator",
    pages: [
      page("integrations", "www/integrations/README.md", "All packages"),
      page("mdbook", "www/integrations/mdbook/README.md", "mdBook"),
      page("vitepress", "www/integrations/vitepress/README.md", "VitePress"),
      page("starlight", "www/integrations/starlight/README.md", "Starlight, Astro"),
      page("docusaurus", "www/integrations/docusaurus/README.md", "Docusaurus"),
      page("mkdocs", "www/integrations/mkdocs/README.md", "MkDocs"),
      page("sphinx", "www/integrations/sphinx/README.md", "Sphinx"),
    ],
  },
  {
    name: "Why, and how well",
    pages: [
      page("overview", "README.md", "Overview"),
      page("how-it-works", "www/site/guides/how-it-works.md", "How it works"),
      page("comparison", "www/site/guides/comparison.md", "Beside other searches"),
      page("benchmarks", "docs/benchmarks.md", "Benchmarks"),
    ],
  },
  {
    name: "Inside",
    pages: [
      page("architecture", "ARCHITECTURE.md", "Architecture"),
      page("format", "docs/format.md", "Bundle format"),
      page("indexing", "docs/indexing.md", "Indexing"),
      page("ranking", "docs/ranking.md", "Ranking"),
      page("ranking-short-pages", "docs/ranking-short-pages.md", "Ranking: short pages"),
      page("ranking-other-words", "docs/ranking-other-words.md", "Ranking: other words"),
      page("ranking-uhd", "docs/ranking-uhd.md", "Ranking: codes alone"),
      page("codecs", "docs/codecs.md", "Codecs"),
      page("scaling", "docs/scaling.md", "Growth"),
      page("engines", "docs/engines.md", "The network's engines"),
    ],
  },
  {
    name: "The encoder",
    pages: [
      page("training", "docs/training.md", "Training"),
      page("experiments", "docs/experiments/README.md", "Experiments"),
      page("siskin-en", "models/siskin-en/README.md", "siskin-en"),
      page("siskin-en-small", "models/siskin-en-small/README.md", "siskin-en-small"),
      page("mismatch", "tests/mismatch/README.md", "Questions in other words"),
    ],
  },
];

export const PAGES = GROUPS.flatMap(({ pages }) => pages);

function page(name, source, title) {
  return { source, url: `/${name}/`, title };
}
