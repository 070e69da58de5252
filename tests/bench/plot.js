/** Horizontal bar charts as SVG. */
import { escapeHtml } from "./macros.js";

const WIDTH = 760;
const LABEL_WIDTH = 150;
const VALUE_WIDTH = 110;
const BAR_HEIGHT = 18;
const GAP = 6;
const GROUP_GAP = 16;
const HEAD = 44;
const COLOURS = { siskin: "#b4530a", other: "#7c8794" };
const TEXT = 'font-family="system-ui, sans-serif" fill="#1f2328"';

/** `groups`: `[{name, bars: [{label, value, shown}]}]`; a bar without a value shows its text only. */
export function barChart(title, groups) {
  const values = groups.flatMap(({ bars }) => bars.map(({ value }) => value ?? 0));
  const scale = (WIDTH - LABEL_WIDTH - VALUE_WIDTH) / Math.max(...values, Number.MIN_VALUE);
  const parts = [text(8, 22, title, 'font-size="15" font-weight="600"')];
  let y = HEAD;
  for (const { name, bars } of groups) {
    parts.push(text(8, y + 4, name, 'font-size="13" font-weight="600"'));
    y += GROUP_GAP;
    for (const bar of bars) {
      parts.push(...row(y, bar, scale));
      y += BAR_HEIGHT + GAP;
    }
    y += GROUP_GAP;
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${y}" viewBox="0 0 ${WIDTH} ${y}" role="img" aria-label="${escapeHtml(title)}">
<rect width="100%" height="100%" fill="#ffffff"/>
${parts.join("\n")}
</svg>
`;
}

function row(y, { label, value, shown }, scale) {
  const length = value === undefined ? 0 : Math.max(1, value * scale);
  const colour = label.toLowerCase().startsWith("siskin") ? COLOURS.siskin : COLOURS.other;
  const base = y + BAR_HEIGHT - 5;
  return [
    text(LABEL_WIDTH - 8, base, label, 'font-size="12" text-anchor="end"'),
    `<rect x="${LABEL_WIDTH}" y="${y}" width="${length.toFixed(1)}" height="${BAR_HEIGHT}" fill="${colour}"/>`,
    text(LABEL_WIDTH + length + 6, base, shown, 'font-size="12"'),
  ];
}

function text(x, y, content, attributes) {
  return `<text x="${x.toFixed(1)}" y="${y}" ${TEXT} ${attributes}>${escapeHtml(content)}</text>`;
}
