/** The built package in Chromium. */
import { checkIn } from "./checks.js";
import { CHROMIUM_ENGINE } from "./engines.js";

checkIn(CHROMIUM_ENGINE);
