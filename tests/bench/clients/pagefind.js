export async function start() {
  const script = "/index/pagefind.js";
  const pagefind = await import(script);
  await pagefind.options({ baseUrl: "/" });
  await pagefind.init();
  return {
    async query(text, limit) {
      const { results } = await pagefind.search(text);
      return results.slice(0, limit).map(async (result) => {
        const { url, meta, excerpt } = await result.data();
        return { url, title: meta.title ?? url, excerpt };
      });
    },
  };
}
