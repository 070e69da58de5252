import type { OpenOptions, Search } from "./api.js";
import type { Begun } from "./begin.js";
import { SearchError } from "./errors.js";
import { open } from "./open.js";
import { openOn } from "./remote.js";
import { type Member, openTogether } from "./together.js";

/** Opens the bundles in `folders`, for each of which something has been begun. */
export function openAll(begun: Begun[], folders: URL[], options: OpenOptions): Promise<Search> {
  const members = folders.flatMap((folder, place): Member[] => {
    const own = begun[place];
    const opening = (options: OpenOptions) =>
      own ? openBegun(own, folder, options) : open(folder);
    return [{ folder, open: (options) => open(folder, options), opening }];
  });
  const [first] = members;
  if (first === undefined) throw new SearchError("query", "Name at least one bundle.");
  return members.length === 1 ? first.opening(options) : openTogether(members, options);
}

/** A worker that was started for a bundle which cannot be opened is ended. */
async function openBegun(begun: Begun, folder: URL, options: OpenOptions): Promise<Search> {
  try {
    return await openOn(begun, folder, options);
  } catch (error) {
    begun.worker.then((worker) => worker?.terminate());
    throw error;
  }
}
