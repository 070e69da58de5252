/** SHA-256 of `bytes`, in hex. Undefined where the platform has no digest (plain HTTP). */
export async function sha256(bytes: BufferSource): Promise<string | undefined> {
  const subtle = globalThis.crypto?.subtle;
  if (subtle === undefined) return undefined;
  const digest = new Uint8Array(await subtle.digest("SHA-256", bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
