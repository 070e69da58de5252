import type { Match, Result, Section } from "../api.js";
import { resultUrl } from "./address.js";
import { cut, cutMatches } from "./bounds.js";
import { textDirective } from "./fragment.js";

/** A line of text of a row. */
export interface Line {
  name: "title" | "heading" | "excerpt";
  text: string;
}

/** A stretch of a reason; words are set apart from the sentence that they stand in. */
export interface Part {
  text: string;
  isWord: boolean;
}

/** One option of the list. */
export interface Row {
  kind: "result" | "page" | "section" | "recent";
  /** Where it leads; absent for what is no web address. */
  href?: string;
  lines: Line[];
  matches: Match[];
  /** Why it is there, a line each. */
  reasons: Part[][];
}

/** A page that was found, and its rows. */
export interface Group {
  /** Tells pages apart, also from one answer to the next. */
  key: string;
  title: string;
  rows: Row[];
}

/** The key of the group of earlier searches, which is no page. */
export const RECENT = "recent";

/** How results are linked. */
export interface Links {
  /** Where their addresses begin. */
  site: URL;
  /** Whether a link leads to the matched words, and not to their heading only. */
  pointsAtText: boolean;
}

/** The reasons for what these words matched. */
export type Explain = (matches: Match[]) => Part[][];

/** What is shown of a result: the page and below it its sections, or one row for both where there is
 * one section only. */
export function groupOf(result: Result, links: Links, explain: Explain): Group {
  const title = cut(result.title);
  const sections = result.sections ?? [];
  const rows =
    sections.length < 2
      ? [resultRow(result, title, links, explain)]
      : [
          pageRow(result, title, links),
          ...sections.map((section) => sectionRow(section, links, explain)),
        ];
  return { key: pageOf(result.url), title, rows };
}

/** Earlier searches as rows that can be asked again. */
export function recentGroup(title: string, searches: string[]): Group {
  const rows = searches.map((text): Row => {
    return { kind: "recent", lines: [{ name: "title", text }], matches: [], reasons: [] };
  });
  return { key: RECENT, title, rows };
}

/** The address of a result's page: without the anchor. */
export function pageOf(url: string): string {
  return url.replace(/#.*/su, "");
}

function resultRow(result: Result, title: string, links: Links, explain: Explain): Row {
  const row = sectionRow(result, links, explain);
  const below = row.lines.filter(({ text }) => text !== title);
  return { ...row, kind: "result", lines: [{ name: "title", text: title }, ...below] };
}

function pageRow({ url, matches }: Result, title: string, { site }: Links): Row {
  const lines: Line[] = [{ name: "title", text: title }];
  const row = { lines, matches: cutMatches(matches), reasons: [] };
  return { kind: "page", ...row, ...link(pageOf(url), site) };
}

function sectionRow(
  section: Section | Result,
  { site, pointsAtText }: Links,
  explain: Explain,
): Row {
  const matches = cutMatches(section.matches);
  const lines: Line[] = [
    { name: "heading", text: cut(section.heading) },
    { name: "excerpt", text: cut(section.excerpt) },
  ];
  const directive = pointsAtText ? textDirective(cut(section.excerpt), matches) : "";
  return {
    kind: "section",
    lines: lines.filter(({ text }) => text !== ""),
    matches,
    reasons: explain(matches),
    ...link(withDirective(section.url, directive), site),
  };
}

/** A directive belongs to the fragment, which may be empty. */
function withDirective(url: string, directive: string): string {
  return directive === "" || url.includes("#") ? url + directive : `${url}#${directive}`;
}

function link(url: string, site: URL): { href?: string } {
  const href = resultUrl(url, site);
  return href === undefined ? {} : { href };
}
