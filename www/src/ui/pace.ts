/** Keystrokes closer together than this ask once. */
const TYPING_DELAY_MS = 60;

/** The same where a list costs more than a frame: typing has to pause. */
const PAUSE_MS = 200;

const FRAME_MS = 1000 / 60;

/** What a part of a list may cost: the page has work of its own in each frame. */
const PART_MS = FRAME_MS / 2;

/** How soon what is typed is asked, and in how many parts its list is drawn.
 *
 * Drawing a list takes a slow machine several frames, in which no letter appears. There the list waits
 * until typing pauses, and is drawn in parts, a frame each; elsewhere it follows every letter, whole. */
export class Pace {
  /** What lists cost lately, until they are drawn. */
  #cost_ms = 0;
  #drawing = 0;

  /** How long typing rests before a question is asked. */
  get delay_ms(): number {
    return this.#is_slow ? PAUSE_MS : TYPING_DELAY_MS;
  }

  /** Draws a list of `count` pages, the first part at once: `draw` shows so many of them. True once all are
   * there; false where another drawing began, or `stop` ended this one. */
  async draw(count: number, draw: (count: number) => void): Promise<boolean> {
    this.stop();
    const drawing = this.#drawing;
    const parts = this.#is_slow ? Math.ceil(this.#cost_ms / PART_MS) : 1;
    const step = Math.max(1, Math.ceil(count / parts));
    let cost_ms = 0;
    for (let drawn = step; drawn < count; drawn += step) {
      cost_ms += await costOf(() => draw(drawn));
      if (drawing !== this.#drawing) return false;
    }
    const last = costOf(() => draw(count));
    void last.then((last_ms) => this.#note(cost_ms + last_ms));
    return true;
  }

  /** Ends a drawing: what it has drawn stays. */
  stop(): void {
    this.#drawing += 1;
  }

  get #is_slow(): boolean {
    return this.#cost_ms > FRAME_MS;
  }

  /** One cheap list, much of which was there before, says little of the next. */
  #note(cost_ms: number): void {
    this.#cost_ms = Math.max(cost_ms, this.#cost_ms / 2);
  }
}

/** Does `work`, which changes the page, at once; settles when that is drawn, with what it cost. */
function costOf(work: () => void): Promise<number> {
  const begun = performance.now();
  work();
  const worked_ms = performance.now() - begun;
  return new Promise((resolve) => {
    requestAnimationFrame(() => {
      const frame = performance.now();
      // Runs once the frame is drawn.
      setTimeout(() => resolve(worked_ms + performance.now() - frame));
    });
  });
}
