import { withSiskin } from "@siskin/vitepress";
import plain from "./plain.mts";

export default withSiskin({ ...plain, base: "/docs/" }, { limit: 5 });
