/** The outcomes of `works`, as of `Promise.allSettled`; but once one of them has succeeded the others
 * have `patience_ms` left, if that is given. After that `late` says with what they count as failed. */
export async function settledInTime<T>(
  works: Promise<T>[],
  patience_ms: number | undefined,
  late: (index: number) => unknown,
): Promise<PromiseSettledResult<T>[]> {
  const outcomes: (PromiseSettledResult<T> | undefined)[] = works.map(() => undefined);
  const record = async (work: Promise<T>, index: number) => {
    [outcomes[index]] = await Promise.allSettled([work]);
  };
  let timer: ReturnType<typeof setTimeout> | undefined;
  const is_over = new Promise<void>((resolve) => {
    const wait = () => {
      timer = setTimeout(resolve, patience_ms);
    };
    if (patience_ms !== undefined) Promise.any(works).then(wait, () => {});
  });
  await Promise.race([Promise.all(works.map(record)), is_over]);
  clearTimeout(timer);
  return outcomes.map((outcome, index) => outcome ?? { status: "rejected", reason: late(index) });
}
