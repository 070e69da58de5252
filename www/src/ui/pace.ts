/** Keystrokes closer together than this ask once. */
const TYPING_DELAY_MS = 60;

/** The same where a list costs more than a frame: typing has to pause. */
const PAUSE_MS = 200;

const FRAME_MS = 1000 / 60;

/** How soon what is typed is asked.
 *
 * Drawing a list takes a slow machine several frames, in which no letter appears. There the list waits
 * until typing pauses; elsewhere it follows every letter. */
export class Pace {
  #cost_ms = 0;

  /** How long typing rests before a question is asked. */
  get delay_ms(): number {
    return this.#cost_ms > FRAME_MS ? PAUSE_MS : TYPING_DELAY_MS;
  }

  /** Does `work`, which changes the page, and notes what it costs until it is drawn. */
  measure(work: () => void): void {
    const begun = performance.now();
    work();
    const worked_ms = performance.now() - begun;
    requestAnimationFrame(() => {
      const frame = performance.now();
      // Runs once the frame is drawn.
      setTimeout(() => {
        this.#cost_ms = worked_ms + performance.now() - frame;
      });
    });
  }
}
