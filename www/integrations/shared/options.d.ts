/** How the search box looks and answers: the attributes of `<siskin-search>`, which Siskin's
 * documentation describes. What is left out, or null, is as the element's own default. */
export interface BoxOptions {
  /** A button that opens the box in a dialog, instead of the box itself. Default: true. */
  modal?: boolean;
  /** How a question is understood. Default: `table`. */
  mode?: "words" | "table" | "full";
  /** Whether the network may refine what the tables found. Default: `off`. */
  encoder?: "off" | "idle" | "on-open";
  /** Results shown at once, 1 to 100. Default: 10. */
  limit?: number;
  /** Name of the box. Default: "Search" in the page's language. */
  label?: string;
  /** Shown in the empty box. Default: the label. */
  placeholder?: string;
  /** Keys that lead to the box. Default: `ctrl+k /`. */
  shortcuts?: string;
  /** Parameter of the page's address that holds a question to ask at once. Default: none. */
  "query-parameter"?: string;
  /** `off`: links lead to headings only, not to the matched words. */
  "text-fragments"?: "off";
  /** Offers the reader's last searches, kept in the browser. Default: false. */
  recent?: boolean;
}

/** The attributes of the element, as `options` say; throws an `Error` that begins with `place` where an
 * option does not exist or cannot have its value. */
export function boxAttributes(options: BoxOptions, place: string): Record<string, string>;

/** The address of the box's script below `base`, the address of the site's first folder. */
export function scriptAddress(base: string): string;
