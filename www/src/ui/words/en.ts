import type { Words } from "../words.js";

const words: Words = {
  quotes: ["“", "”"],
  results: { one: "{n} result for {q}", other: "{n} results for {q}" },
  none: "No results for {q}.",
  hint: "Try other or fewer words.",
  near: "Did you mean {q}?",
  loading: "Loading search…",
  network: "Loading the language network… {n}",
  unreachable: "Search could not be loaded. Check your connection.",
  damaged: "Search is not working: its files on this site are damaged or out of date.",
  stopped: "Search stopped because of an error.",
  retry: "Try again",
  more: "Show more",
  recent: "Recent searches",
  clear: "Clear recent searches",
  close: "Close",
};

export default words;
