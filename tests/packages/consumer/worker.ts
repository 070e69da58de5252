/** An edge worker in TypeScript; compiled against the installed package, never run. */
import { type Answer, answer, open, SearchError } from "siskin/edge";

/** As edge runtimes hand it over. */
interface Env {
  ASSETS: { fetch(address: string | URL | Request, init?: RequestInit): Promise<Response> };
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    if (new URL(request.url).pathname === "/search") {
      return answer(request, { files: env.ASSETS, modes: ["table", "full"] });
    }
    const search = await open("https://docs.example/siskin/", { files: env.ASSETS });
    const found: Answer = await search.query("a question", { limit: 3 });
    return Response.json(found.results.map(({ url }) => url));
  },
};

// @ts-expect-error: no such mode.
await answer(new Request("https://docs.example/"), { modes: ["best"] });

export function told(error: unknown): string {
  return error instanceof SearchError && error.code === "network" ? error.message : "";
}
