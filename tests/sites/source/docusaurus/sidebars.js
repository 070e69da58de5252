module.exports = {
  docs: [
    "index",
    {
      type: "category",
      label: "Guide",
      link: { type: "generated-index", description: "How to do things with Heron." },
      items: ["guide/install", "guide/requests", "guide/streams"],
    },
    {
      type: "category",
      label: "Reference",
      items: ["reference/options", "reference/errors"],
    },
  ],
};
