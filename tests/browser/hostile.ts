import type { Facet } from "../../www/src/api.js";
import type { Answers } from "./stub.js";

/** Runs, or shows, where it is taken for markup. */
export const MARKUP = `<img src=x onerror="hit=1"><script>hit=1</script><b>bold</b>"'--><svg onload=hit=1>`;

/** What a site that means harm could have in its index, found for the question “evil”. */
export function hostileAnswers(): Answers {
  const results = [
    { url: "javascript:hit=1", title: MARKUP, heading: MARKUP, excerpt: MARKUP },
    { url: "data:text/html,x", title: "x".repeat(1 << 20), excerpt: "y ".repeat(1 << 19) },
    { url: "/a.html", title: "\u202Eevil\u202D", heading: "z".repeat(1 << 20), excerpt: "e" },
  ];
  const matches = [
    { kind: "meaning" as const, query: MARKUP, text: MARKUP },
    { kind: "word" as const, query: "(".repeat(1 << 16), text: "(".repeat(1 << 16) },
  ];
  return { evil: results.map((result) => ({ ...result, matches })) };
}

/** Filters that such a site could have: of each name one value. */
export function hostileFacets(): Facet[] {
  const pairs = [
    [MARKUP, MARKUP],
    ["constructor", "__proto__"],
    ["__proto__", "x".repeat(1 << 20)],
    ["\u202Eevil", "\u202Elive\u202D"],
    ["z".repeat(1 << 16), "javascript:hit=1"],
  ] as const;
  return pairs.map(([filter, value]) => ({ filter, value, found: 1, pages: 3 }));
}
