/** The element's own rules. Colours and sizes are variables that a page may set from outside. */
const CSS = `
:host {
  --_background: var(--siskin-background, #fff);
  --_text: var(--siskin-text, #1d2125);
  --_muted: var(--siskin-muted, #59636e);
  --_border: var(--siskin-border, #c4cad1);
  --_accent: var(--siskin-accent, #1f6f3f);
  --_active: var(--siskin-active, #eef5f0);
  --_mark: var(--siskin-mark, #fbe97a);
  --_radius: var(--siskin-radius, 8px);
  display: block;
  position: relative;
  color: var(--_text);
  font: var(--siskin-font, 1rem/1.45 system-ui, sans-serif);
  text-align: start;
}
@media (prefers-color-scheme: dark) {
  :host {
    --_background: var(--siskin-background, #16191d);
    --_text: var(--siskin-text, #e4e8ec);
    --_muted: var(--siskin-muted, #9ba5b0);
    --_border: var(--siskin-border, #444c56);
    --_accent: var(--siskin-accent, #7ccf9a);
    --_active: var(--siskin-active, #212b26);
    --_mark: var(--siskin-mark, #6b5c00);
  }
}
:host([hidden]), [hidden] { display: none !important; }
*, *::before, *::after { box-sizing: border-box; }
label, [role="status"] {
  position: absolute; width: 1px; height: 1px; overflow: hidden;
  clip-path: inset(50%); white-space: nowrap;
}
input {
  width: 100%; margin: 0; padding: .6em .8em;
  color: inherit; background: var(--_background); font: inherit;
  border: 1px solid var(--_border); border-radius: var(--_radius);
}
input::placeholder { color: var(--_muted); opacity: 1; }
input:focus-visible { outline: 2px solid var(--_accent); outline-offset: 1px; }
.panel {
  position: absolute; inset-inline: 0; top: calc(100% + 4px); z-index: var(--siskin-layer, 50);
  max-height: min(70vh, 40rem); overflow-y: auto;
  background: var(--_background); border: 1px solid var(--_border); border-radius: var(--_radius);
  box-shadow: 0 8px 24px rgb(0 0 0 / .16);
}
:host([inline]) .panel {
  position: static; max-height: none; margin-top: .75rem; box-shadow: none; border: 0;
  background: none;
}
.note { margin: 0; padding: .7em .9em; color: var(--_muted); overflow-wrap: anywhere; }
button {
  margin: 0 .9em .8em; padding: .35em .8em; font: inherit; color: var(--_accent);
  background: none; border: 1px solid currentColor; border-radius: var(--_radius); cursor: pointer;
}
a[role="option"] {
  display: block; padding: .65em .9em; color: inherit; text-decoration: none;
  overflow-wrap: anywhere;
}
a[role="option"] > span { display: block; unicode-bidi: isolate; }
a[role="option"] + a[role="option"] { border-top: 1px solid var(--_border); }
a[role="option"]:hover, a[aria-selected="true"] { background: var(--_active); }
a[aria-selected="true"] { outline: 2px solid var(--_accent); outline-offset: -2px; }
.title { font-weight: 600; color: var(--_accent); }
.heading { font-weight: 600; font-size: .92em; }
.excerpt {
  font-size: .92em; color: var(--_muted);
  display: -webkit-box !important; -webkit-box-orient: vertical; -webkit-line-clamp: 3;
  overflow: hidden;
}
.reasons { margin-top: .25em; font-size: .82em; color: var(--_muted); }
.reason { margin-inline-end: 1em; }
mark { color: var(--_text); background: var(--_mark); border-radius: 2px; }
mark.meaning { background: none; text-decoration: underline 2px var(--_accent); }
.title mark, .heading mark { color: inherit; }
.title mark.word, .heading mark.word { background: none; text-decoration: underline 2px; }
.busy::after {
  content: ""; display: inline-block; width: .8em; height: .8em; margin-inline-start: .6em;
  border: 2px solid var(--_border); border-top-color: var(--_accent); border-radius: 50%;
  animation: turn .8s linear infinite;
}
@keyframes turn { to { transform: rotate(1turn); } }
@media (prefers-reduced-motion: reduce) { .busy::after { animation: none; } }
@media (forced-colors: active) {
  mark { background: Mark; color: MarkText; }
  a[aria-selected="true"] { outline-color: Highlight; }
}
`;

let sheet: CSSStyleSheet | undefined;

/** One sheet for all instances; constructed sheets need no `style-src` exception. */
export function styleSheet(): CSSStyleSheet {
  if (sheet === undefined) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(CSS);
  }
  return sheet;
}
