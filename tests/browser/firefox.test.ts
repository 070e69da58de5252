/** The built package in Firefox. */
import { checkIn } from "./checks.js";
import { FIREFOX_ENGINE } from "./engines.js";

checkIn(FIREFOX_ENGINE);
