/** Milliseconds between two looks at what another request loads, and how long one looks. */
const LOOK_MS = 20;
const PATIENCE_MS = 10_000;

/** Gives what `load` gives, loaded when it is first asked for; a failure is forgotten.
 *
 * Nobody waits for another request's promise: at the edge a request's work ends with it, done or not,
 * and that promise may never settle. Who comes while another loads looks again and again, and at last loads
 * it himself. */
export function apart<T>(load: () => Promise<T>, patience_ms = PATIENCE_MS): () => Promise<T> {
  let loaded: { value: T } | undefined;
  /** What tells the load that is under way from others; undefined when none is. */
  let current: symbol | undefined;
  return async () => {
    // Of those whose patience with one load ends, one alone goes on: the others wait for that one.
    let [seen, waited] = [current, 0];
    while (current !== undefined && (current !== seen || waited < patience_ms)) {
      if (current !== seen) [seen, waited] = [current, 0];
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      waited += LOOK_MS;
    }
    if (loaded !== undefined) return loaded.value;
    const own = Symbol();
    current = own;
    try {
      const value = await load();
      loaded ??= { value };
      return value;
    } finally {
      if (current === own) current = undefined;
    }
  };
}
