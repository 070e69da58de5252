const plain = require("./plain.config.js");

module.exports = {
  ...plain,
  baseUrl: "/docs/",
  // Addresses without .html are one page to every server.
  trailingSlash: true,
  themes: [["@siskin/docusaurus", { limit: 5 }]],
};
