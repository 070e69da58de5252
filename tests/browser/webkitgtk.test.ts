/** The built package in WebKitGTK. */
import { checkIn } from "./checks.js";
import { WEBKIT_ENGINE } from "./engines.js";

checkIn(WEBKIT_ENGINE);
