import type { Begun } from "./begin.js";

/** Files that arrived on the page, by address; not yet checked. */
export type Ahead = [url: string, bytes: ArrayBuffer][];

/** What has arrived of the files that the page asked for. */
export async function filesAhead({ files }: Begun): Promise<Ahead> {
  return (await Promise.all(files.map(bytesOf))).flat();
}

async function bytesOf(file: Promise<Response | undefined>): Promise<Ahead> {
  try {
    const response = await file;
    return response?.ok ? [[response.url, await response.arrayBuffer()]] : [];
  } catch {
    return [];
  }
}
