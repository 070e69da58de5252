const LENGTH = 160;

/** The part of `text` around the first word of `words` in it, as HTML. */
export function excerpt(text, words) {
  const low = text.toLowerCase();
  const places = words.map((word) => low.indexOf(word.toLowerCase())).filter((at) => at >= 0);
  const at = Math.max(0, Math.min(...places, text.length) - LENGTH / 4);
  const from = places.length > 0 ? at : 0;
  return escapeHtml(text.slice(from, from + LENGTH));
}

export function escapeHtml(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

export async function fetchJson(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: status ${response.status}`);
  return response.json();
}

export async function fetchText(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: status ${response.status}`);
  return response.text();
}
