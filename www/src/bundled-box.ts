/** What a page gets from `import "siskin/box"` when it is bundled: `<siskin-search>`. */
import { defineBox } from "./bundled.js";

void defineBox();
