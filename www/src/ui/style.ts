/** The constructed sheet of each text: one for all instances, and no `style-src` exception. */
const sheets = new Map<string, CSSStyleSheet>();

/** Adds rules to a shadow root. */
export function addStyle(root: ShadowRoot, css: string): void {
  let sheet = sheets.get(css);
  if (sheet === undefined) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(css);
    sheets.set(css, sheet);
  }
  root.adoptedStyleSheets.push(sheet);
}
