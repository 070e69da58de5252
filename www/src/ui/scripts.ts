const RUN =
  "[\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Hang}\\p{sc=Thai}\\p{sc=Laoo}\\p{sc=Khmr}\\p{sc=Mymr}]+";

/** Writing without blanks between words: the engine's words of it are pairs of characters, which overlap. */
export const UNSPACED = new RegExp(RUN, "u");

/** Cuts a text into stretches of such writing, at odd places, and what is between them. */
export const UNSPACED_RUNS = new RegExp(`(${RUN})`, "u");
