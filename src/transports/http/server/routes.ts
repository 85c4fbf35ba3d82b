import type { ServerCard } from './server-card.js';

/** The things that are served over HTTP. */
export type Route = 'mcp' | 'sse' | 'messages' | 'health' | 'ready';

export interface Routes {
  /**
   * The path of the endpoint. `sse`, `messages`, `health` and `ready` are served beside it. Default: `MCP_PATH`, then `/mcp`,
   * with `serve`. Otherwise a router has mounted the handler: those four are recognised by the last segment of the path, and
   * every other path is the endpoint.
   */
  readonly path?: string;
  /**
   * The public description of the server at `<endpoint>/server-card`, with the catalog at `/.well-known/ai-catalog.json`: `serverCard` of
   * `fullmcp/server-card`. Needs `publicUrl`. Default: none.
   */
  readonly card?: ServerCard | undefined;
}

/** Throws an error that begins with `what` if a path is not valid. */
export function checkPath(path: unknown, what: string): void {
  if (typeof path === 'string' && path.startsWith('/') && !/[?#\s]/.test(path)) return;
  throw new TypeError(
    `${what} must be a path that begins with "/", such as "/mcp", but it is ${JSON.stringify(path)}.`,
  );
}

const neighbours: ReadonlySet<string> = new Set<Route>(['sse', 'messages', 'health', 'ready']);

/** Finds the route of a path; undefined if nothing is served there. */
export function routeOf(path: string, { path: endpoint }: Pick<Routes, 'path'>): Route | undefined {
  if (path === endpoint) return 'mcp';
  const slash = path.lastIndexOf('/');
  const last = path.slice(slash + 1);
  const isNeighbour = neighbours.has(last);
  if (endpoint === undefined) {
    // Clients request OAuth metadata, also below the endpoint. Without it, they must get a 404.
    if (path.includes('/.well-known/')) return undefined;
    return isNeighbour ? (last as Route) : 'mcp';
  }
  return isNeighbour && path.slice(0, slash) === endpoint.slice(0, endpoint.lastIndexOf('/'))
    ? (last as Route)
    : undefined;
}
