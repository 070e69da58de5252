import type { Result, Section } from "../api.js";
import { type AddressRules, addressOf, parts } from "./address.js";
import { type ExcerptRules, escapeHtml, excerptOf, markedPlaces, wordsOf } from "./excerpt.js";
import type { Anchor, Fragment, Places, SubResult } from "./shapes.js";

/** Sections shown besides the part above all headings: Pagefind's lists show as many, and choose by
 * the number of marks where they get more. */
const MAXIMUM_SECTIONS = 3;

/** Sections to ask the engine for. */
export const WANTED_SECTIONS = MAXIMUM_SECTIONS + 1;

/** How an index's results are written. */
export interface FragmentRules {
  address: AddressRules;
  excerpt: ExcerptRules;
}

/** A result of a search for `term` in Pagefind's shape. */
export function fragmentOf(result: Result, rules: FragmentRules, term: string): Fragment {
  const [raw_url] = parts(result.url);
  const url = addressOf(raw_url, rules.address, term);
  const sections = shownSections(result);
  const text = sections.map((section) => section.excerpt).join(" ");
  const sub_results = subResults(result.title, sections, rules, term);
  const content = wordsOf(text);
  return {
    url,
    raw_url,
    content: content.join(" "),
    raw_content: escapeHtml(content.join(" ")),
    word_count: content.length,
    ...excerptOf(wordsOf(result.excerpt), result.matches, rules.excerpt),
    ...placesAt(sub_results.flatMap((sub_result) => sub_result.locations)),
    filters: valuesByFilter(result),
    meta: { title: result.title, ...result.meta, ...imageOf(result, url) },
    anchors: sub_results.flatMap(({ anchor }) => anchor ?? []),
    sub_results,
  };
}

/** Stands for this site's own origin. */
const HERE = "https://here.invalid";

/** The page's picture seen from any page; empty where its address is none that lists can show. */
function imageOf({ meta }: Result, page_url: string): { image?: string } {
  if (meta.image === undefined) return {};
  try {
    const { href, origin, pathname, search, protocol } = new URL(
      meta.image,
      new URL(page_url, HERE),
    );
    if (origin === HERE) return { image: pathname + search };
    return { image: /^https?:$/.test(protocol) ? href : "" };
  } catch {
    return { image: "" };
  }
}

function valuesByFilter({ filters }: Result): Record<string, string[]> {
  const values = new Map<string, string[]>();
  for (const { filter, value } of filters) {
    values.set(filter, [...(values.get(filter) ?? []), value]);
  }
  return Object.fromEntries(values);
}

/** The part above all headings first, where lists look for it, then the best sections. */
function shownSections(result: Result): Section[] {
  const all = result.sections.length === 0 ? [result] : result.sections;
  const is_linked = ({ url }: Section) => parts(url)[1] !== undefined;
  const above = all.filter((section) => !is_linked(section));
  return [...above.slice(0, 1), ...all.filter(is_linked).slice(0, MAXIMUM_SECTIONS)];
}

function subResults(
  title: string,
  sections: Section[],
  rules: FragmentRules,
  term: string,
): SubResult[] {
  let start = 0;
  return sections.map((section) => {
    const words = wordsOf(section.excerpt);
    const marked = markedPlaces(words, section.matches).map((place) => start + place);
    const anchor = anchorOf(section, title, start);
    start += words.length;
    return {
      title: section.heading || title,
      url: addressOf(section.url, rules.address, term),
      ...(anchor && { anchor }),
      ...placesAt(marked),
      ...excerptOf(words, section.matches, rules.excerpt),
    };
  });
}

function anchorOf(section: Section, title: string, location: number): Anchor | undefined {
  const [, fragment] = parts(section.url);
  if (fragment === undefined) return undefined;
  return { element: "h2", id: decoded(fragment), text: section.heading || title, location };
}

function decoded(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}

function placesAt(locations: number[]): Places {
  const weighted = locations.map((location) => ({ weight: 1, balanced_score: 1, location }));
  return { locations, weighted_locations: weighted };
}
