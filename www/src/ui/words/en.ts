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
  partial: "Some results are missing: part of the search could not be loaded.",
  stopped: "Search stopped because of an error.",
  why: "Why these results?",
  found: "Found here: {q}",
  alike: "Alike in meaning: {q}",
  absent: "Not found here, or too common to look for: {q}",
  whole: "Close to your question as a whole",
  modes: {
    words: "Found by your words alone.",
    table: "Found by your words and, from tables, by their meaning.",
    full: "Found by your words and by the meaning of the whole question, which a language network on your device has read.",
  },
  retry: "Try again",
  more: "Show more",
  recent: "Recent searches",
  clear: "Clear recent searches",
  close: "Close",
};

export default words;
