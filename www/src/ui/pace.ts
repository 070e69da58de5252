/** Keystrokes closer together than this ask once. */
const TYPING_DELAY_MS = 60;

/** The same where a list costs more than a frame: typing has to pause. */
const PAUSE_MS = 200;

const FRAME_MS = 1000 / 60;

/** What a part of a list may cost: the page has work of its own in each frame. */
const PART_MS = FRAME_MS / 2;

/** What took longer was something else, and says nothing of the next list. So there are twelve parts at most. */
const MAXIMUM_MS = 100;

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

  /** Draws a list of `count` pages, of which the first `known` are there, its first part at once: `draw` shows
   * so many. Settles once all are there, another drawing begins, or `stop` ends this one. */
  async draw(count: number, known: number, draw: (count: number) => void): Promise<void> {
    this.stop();
    const drawing = this.#drawing;
    const parts = this.#is_slow ? Math.ceil(this.#cost_ms / PART_MS) : 1;
    const step = Math.max(1, Math.ceil((count - known) / parts));
    const costs_ms: number[] = [];
    for (let drawn = known + step; drawn < count; drawn += step) {
      costs_ms.push(await costOf(() => draw(drawn)));
      if (drawing !== this.#drawing) return;
    }
    void this.#note(
      costs_ms,
      costOf(() => draw(count)),
    );
  }

  /** Ends a drawing: what it has drawn stays. */
  stop(): void {
    this.#drawing += 1;
  }

  get #is_slow(): boolean {
    return this.#cost_ms > FRAME_MS;
  }

  /** What a list cost in parts, as if it had been drawn whole: what a frame costs by itself counts once. One
   * cheap list, much of which was there before, says little of the next. */
  async #note(costs_ms: number[], last_ms: Promise<number>): Promise<void> {
    const all_ms = [...costs_ms, await last_ms];
    const frame_ms = Math.min(...all_ms, await costOf(() => {}));
    const sum_ms = all_ms.reduce((sum, part_ms) => sum + part_ms - frame_ms, frame_ms);
    this.#cost_ms = Math.min(MAXIMUM_MS, Math.max(sum_ms, this.#cost_ms / 2));
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
