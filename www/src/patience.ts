/** The outcomes of `works`, as of `Promise.allSettled`; but once one of them has succeeded each other
 * one has `patience_ms` left, if that is given. After that `late` says with what it counts as failed,
 * unless it settled while still others were waited for. Before one has succeeded there is nothing to
 * go on with: all are waited for. */
export function settledInTime<T>(
  works: Promise<T>[],
  patience_ms: (index: number) => number | undefined,
  late: (index: number) => unknown,
): Promise<PromiseSettledResult<T>[]> {
  const outcomes: (PromiseSettledResult<T> | undefined)[] = works.map(() => undefined);
  const awaited = new Set(works.keys());
  const timers: ReturnType<typeof setTimeout>[] = [];
  return new Promise((resolve) => {
    const leave = (index: number) => {
      // One that settles after its time ends nothing twice.
      if (!awaited.delete(index) || awaited.size > 0) return;
      for (const timer of timers.splice(0)) clearTimeout(timer);
      const missing = (index: number) => ({ status: "rejected" as const, reason: late(index) });
      resolve(outcomes.map((outcome, index) => outcome ?? missing(index)));
    };
    const hurry = () => {
      for (const index of timers.length === 0 ? awaited : []) {
        const left_ms = patience_ms(index);
        if (left_ms !== undefined) timers.push(setTimeout(leave, left_ms, index));
      }
    };
    works.forEach(async (work, index) => {
      const [outcome] = await Promise.allSettled([work]);
      outcomes[index] = outcome;
      leave(index);
      if (outcome.status === "fulfilled") hurry();
    });
    if (works.length === 0) resolve([]);
  });
}
