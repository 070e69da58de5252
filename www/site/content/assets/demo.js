/** The demo: one question, asked of two searches of the site in `/demo/site/`, and what each of them
 * costs. `/demo/site.json` tells `{name, credit, questions}` of that site. */

/** Results asked for and shown. */
const LIMIT = 5;
/** A reader who pauses for so long wants an answer. */
const PAUSE_MS = 350;
const FOLDER = new URL("/demo/site/", location.href);

/** One search with its column: what it fetches is told by `folder`. */
class Side {
  /** When the latest question was asked. */
  #asked_ms;
  /** How long it took; unknown until it is answered. */
  #last_ms;
  /** Of all questions that were answered. */
  #answered = 0;
  #took_ms = 0;
  #entries = [];
  #opened;

  constructor(id, folder, start) {
    this.folder = new URL(folder, FOLDER).href;
    this.start = start;
    this.node = document.getElementById(id);
  }

  /** Asks and shows the answer; a search that could not be opened is opened anew next time. */
  async ask(text) {
    this.#asked_ms = performance.now();
    this.#last_ms = undefined;
    this.#show("question", "…");
    try {
      this.#opened ??= this.start(this.folder);
      const search = await this.#opened;
      const results = await search(text);
      this.#last_ms = performance.now() - this.#asked_ms;
      this.#took_ms += this.#last_ms;
      this.#answered += 1;
      this.#list(results);
      this.#costs();
      return results.length;
    } catch (error) {
      this.#opened = undefined;
      this.#list([]);
      this.#show("question", `failed: ${error.message}`);
      return 0;
    }
  }

  /** Takes note of files that arrived; the browser tells of them a little later than it hands them out. */
  note(entries) {
    const ours = entries.filter(({ name }) => name.startsWith(this.folder));
    if (ours.length === 0) return;
    this.#entries.push(...ours);
    if (this.#last_ms !== undefined) this.#costs();
  }

  #costs() {
    const recent = this.#entries.filter(({ startTime }) => startTime >= this.#asked_ms);
    this.#show("question", `${fetched(recent)}, ${milliseconds(this.#last_ms)}`);
    const questions = this.#answered === 1 ? "1 question" : `${this.#answered} questions`;
    const total = `${fetched(this.#entries)}, ${milliseconds(this.#took_ms)}`;
    this.#show("session", `${total} for ${questions}`);
  }

  #show(cost, text) {
    this.node.querySelector(`[data-cost="${cost}"]`).textContent = text;
  }

  #list(results) {
    const items = results.map(({ url, title, heading, excerpt, reasons }) => {
      const link = element("a", { href: url }, title);
      const parts = [link];
      if (heading && heading !== title) parts.push(element("span", { class: "heading" }, heading));
      parts.push(element("p", {}, ...excerpt));
      if (reasons) parts.push(element("p", { class: "reasons" }, reasons));
      return element("li", {}, ...parts);
    });
    const none = element("li", { class: "none" }, "Nothing found.");
    this.node.querySelector(".results").replaceChildren(...(items.length > 0 ? items : [none]));
  }
}

function element(name, attributes, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

function fetched(entries) {
  const bytes = entries.reduce((sum, { transferSize }) => sum + transferSize, 0);
  const files = entries.filter(({ transferSize }) => transferSize > 0).length;
  if (files === 0) return "nothing fetched";
  return `${(bytes / 1000).toFixed(bytes < 10_000 ? 1 : 0)} KB in ${files === 1 ? "1 file" : `${files} files`}`;
}

function milliseconds(value) {
  return value < 10 ? `${value.toFixed(1)} ms` : `${Math.round(value).toLocaleString("en")} ms`;
}

async function startSiskin(folder) {
  const { open } = await import(`${folder}siskin.js`);
  const search = await open(folder, { worker: "never" });
  return async (text) => {
    const mode = document.getElementById("mode").value;
    const { results } = await search.query(text, { mode, limit: LIMIT });
    return results.map(({ url, title, heading, excerpt, matches }) => ({
      url: new URL(`.${url}`, FOLDER).href,
      title,
      heading,
      excerpt: marked(excerpt, matches),
      reasons: matches
        .filter(({ kind }) => kind === "meaning")
        .map(({ query, text: found }) => `${query} ≈ ${found}`)
        .join(", "),
    }));
  };
}

/** `excerpt` with the words of `matches` in marks. */
function marked(excerpt, matches) {
  const words = new Set(matches.map(({ text }) => text.toLowerCase()));
  return excerpt
    .split(/([\p{L}\p{N}_]+)/u)
    .map((part) => (words.has(part.toLowerCase()) ? element("mark", {}, part) : part));
}

async function startPagefind(folder) {
  const pagefind = await import(`${folder}pagefind.js`);
  await pagefind.options({ baseUrl: FOLDER.pathname, noWorker: true });
  await pagefind.init();
  return async (text) => {
    const { results } = await pagefind.search(text);
    const pages = await Promise.all(results.slice(0, LIMIT).map((result) => result.data()));
    return pages.map(({ url, meta, sub_results, excerpt }) => ({
      url,
      title: meta.title ?? sub_results[0]?.title ?? url,
      excerpt: nodesOf(excerpt),
    }));
  };
}

/** Pagefind's excerpts are HTML that has marks and escaped signs in it, and nothing else. */
function nodesOf(html) {
  return html
    .split(/<mark>(.*?)<\/mark>/s)
    .map((part, at) => (at % 2 === 1 ? element("mark", {}, plain(part)) : plain(part)));
}

const SIGNS = { "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'", "&amp;": "&" };

function plain(html) {
  return html.replace(/&(?:lt|gt|quot|#39|amp);/g, (sign) => SIGNS[sign]);
}

const sides = [
  new Side("siskin", "siskin/", startSiskin),
  new Side("pagefind", "pagefind/", startPagefind),
];
const input = document.getElementById("question");
const status = document.getElementById("status");

new PerformanceObserver((list) => {
  for (const side of sides) side.note(list.getEntries());
}).observe({ type: "resource", buffered: true });

/** The questions that were asked wait for one another, so that no search slows another down. */
let last = Promise.resolve();
let asked = "";
let pause;

function ask() {
  clearTimeout(pause);
  const text = input.value.trim();
  if (text === "" || text === asked) return;
  asked = text;
  last = last.then(async () => {
    // A reader who went on typing does not want this one any more.
    if (text !== asked) return;
    const counts = [];
    for (const side of sides) counts.push(await side.ask(text));
    status.textContent = `“${text}”: ${counts[0]} results from Siskin, ${counts[1]} from Pagefind.`;
  });
}

document.getElementById("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  ask();
});
document.getElementById("mode").addEventListener("change", () => {
  asked = "";
  ask();
});
input.addEventListener("input", (event) => {
  clearTimeout(pause);
  if (!event.isComposing) pause = setTimeout(ask, PAUSE_MS);
});

async function introduce() {
  const response = await fetch("/demo/site.json");
  if (!response.ok)
    throw new Error("no site to show: `cargo xtask demo` puts one beside this page");
  const { name, credit, questions } = await response.json();
  document.getElementById("name").textContent = name;
  document.getElementById("credit").textContent = credit;
  for (const question of questions) {
    const button = element("button", { type: "button" }, question);
    button.addEventListener("click", () => {
      input.value = question;
      ask();
    });
    document.getElementById("examples").append(button);
  }
  const wanted = new URLSearchParams(location.search).get("q");
  if (wanted !== null) {
    input.value = wanted;
    ask();
  }
}

introduce().catch((error) => {
  status.textContent = error.message;
});
