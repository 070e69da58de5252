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
  let is_loading = false;
  return async () => {
    for (let waited = 0; is_loading && waited < patience_ms; waited += LOOK_MS) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
    if (loaded !== undefined) return loaded.value;
    is_loading = true;
    try {
      const value = await load();
      loaded ??= { value };
      return value;
    } finally {
      is_loading = false;
    }
  };
}
