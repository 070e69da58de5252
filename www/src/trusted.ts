interface Policy {
  createScriptURL(url: string): string;
}

interface PolicyFactory {
  createPolicy(name: string, rules: Policy): Policy;
}

let policy: Policy | undefined;

/** The address of one of our own scripts, in the form that pages with Trusted Types ask for.
 *
 * Where such a page does not allow the policy `siskin`, the plain address: the browser then
 * refuses it, and the caller falls back. */
export function scriptUrl(url: URL): string {
  const factory = (globalThis as { trustedTypes?: PolicyFactory }).trustedTypes;
  if (factory === undefined) return url.href;
  try {
    policy ??= factory.createPolicy("siskin", { createScriptURL: (trusted) => trusted });
    return policy.createScriptURL(url.href);
  } catch {
    return url.href;
  }
}
