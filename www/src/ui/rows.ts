import type { Match, Result, Section } from "../api.js";
import { resultUrl } from "./address.js";
import { cut, cutMatches } from "./bounds.js";

/** A line of text of a row. */
export interface Line {
  name: "title" | "heading" | "excerpt";
  text: string;
}

/** One option of the list. */
export interface Row {
  kind: "result" | "page" | "section";
  /** Where it leads; absent for what is no web address. */
  href?: string;
  lines: Line[];
  matches: Match[];
}

/** A page that was found, and its rows. */
export interface Group {
  /** Tells pages apart, also from one answer to the next. */
  key: string;
  title: string;
  rows: Row[];
}

/** What is shown of a result: the page and below it its sections, or one row for both where there is
 * one section only. */
export function groupOf(result: Result, site: URL): Group {
  const title = cut(result.title);
  const sections = result.sections ?? [];
  const rows =
    sections.length < 2
      ? [resultRow(result, title, site)]
      : [pageRow(result, title, site), ...sections.map((section) => sectionRow(section, site))];
  return { key: pageOf(result.url), title, rows };
}

/** The address of a result's page: without the anchor. */
export function pageOf(url: string): string {
  return url.replace(/#.*/su, "");
}

function resultRow(result: Result, title: string, site: URL): Row {
  const row = sectionRow(result, site);
  const below = row.lines.filter(({ text }) => text !== title);
  return { ...row, kind: "result", lines: [{ name: "title", text: title }, ...below] };
}

function pageRow({ url, matches }: Result, title: string, site: URL): Row {
  const lines: Line[] = [{ name: "title", text: title }];
  return { kind: "page", lines, matches: cutMatches(matches), ...link(pageOf(url), site) };
}

function sectionRow({ url, heading, excerpt, matches }: Section | Result, site: URL): Row {
  const lines: Line[] = [
    { name: "heading", text: cut(heading) },
    { name: "excerpt", text: cut(excerpt) },
  ];
  return {
    kind: "section",
    lines: lines.filter(({ text }) => text !== ""),
    matches: cutMatches(matches),
    ...link(url, site),
  };
}

function link(url: string, site: URL): { href?: string } {
  const href = resultUrl(url, site);
  return href === undefined ? {} : { href };
}
