/** What a page gets from `import "siskin/box"` when it is bundled: `<siskin-search>`. */
import { defineBox } from "./bundled.js";

// A page that is drawn on a server gets the box once it is in a browser.
if (typeof document !== "undefined") defineBox().catch(reportError);
