// The entry `fullmcp/rest`: a server as a REST API with an OpenAPI document.

import type { NodeHandler } from './adapters/node/server/handler.js';
import { type DispatchSource, protect } from './http.js';
import { restAuth } from './openapi/rest/rest-auth.js';
import { type RestLimits, restEndpoint, restTable } from './openapi/rest/rest-endpoint.js';
import { documentPrinter, serverDocument } from './openapi/rest/server-document.js';
import { type Authenticate, type AuthInit, toAuth } from './protocol/caller.js';
import { checkOptions, type OptionTable, readOptions } from './protocol/checks/options.js';
import type { CoreServer } from './server/build/core-server.js';
import type { AuthProvider } from './state/auth-provider.js';
import type { CloseOptions, HttpEndpoint } from './transports/http/server/endpoint.js';
import type { GuardOptions } from './transports/http/server/guard.js';
import { checkPath } from './transports/http/server/routes.js';
import type { TrustProxyOptions } from './transports/http/server/trusted-proxies.js';
import { type RequestContext, webIncoming } from './transports/http/server/web.js';

/** The members of a server that its REST API needs. */
export type RestSource = DispatchSource & Pick<CoreServer, 'info'>;

/** The options of `rest`. */
export interface RestOptions<Req = Request> extends GuardOptions, RestLimits {
  /**
   * The path that the paths of the API begin with, such as `/api`. Default: a router has mounted the handler, at any path.
   */
  readonly path?: string | undefined;
  /**
   * Identifies the caller before the body is read: a provider of `fullmcp/auth`, or a function of the request (that of
   * `node:http` if `node` is used). Default: the `auth` of the server, then callers are anonymous.
   */
  readonly auth?: AuthProvider | Authenticate<Req> | undefined;
  /** A client that reads nothing of a reply for this long is disconnected. Ignored except on Node. Default: 30 s. */
  readonly writeTimeoutMs?: number;
  /** The proxies in front of the server, as for `createHandler`. Default: none. */
  readonly trustProxy?: false | number | readonly string[] | TrustProxyOptions | undefined;
  /** The security schemes of the document. Default: those of `auth`, as far as they can be known. */
  readonly securitySchemes?: Readonly<Record<string, object>> | undefined;
}

const optionTable = {
  ...restTable,
  path: 'any',
  auth: 'any',
  allowedHosts: 'any',
  allowedOrigins: 'any',
  publicUrl: 'any',
  writeTimeoutMs: 'ms',
  trustProxy: 'any',
  securitySchemes: 'object',
} as const satisfies OptionTable<RestOptions>;

/** A REST API of a server. */
export interface RestHandler {
  /** Replies to a request: on Bun, Deno, Workers, in Hono and others. */
  (request: Request, context?: RequestContext): Promise<Response>;
  /** Replies to a request of `node:http`, Express, Koa and similar frameworks, which may have parsed the body already. */
  readonly node: (...args: Parameters<NodeHandler>) => void;
  /** Lets open calls finish until the deadline, and refuses new ones. */
  readonly close: (options?: CloseOptions) => Promise<void>;
}

/**
 * Makes a REST API of a server: `POST /tools/{name}` with the arguments as JSON, `POST /prompts/{name}`, `GET /resources?uri=`, and
 * `GET /openapi.json` for the document. Calls take the same way as those of MCP: authentication, rules, policies and middleware apply.
 *
 * @example
 * const api = rest(server);
 * app.all('/api/*', (c) => api(c.req.raw));
 */
export function rest<Req = Request>(server: RestSource, options: RestOptions<Req> = {}): RestHandler {
  checkOptions('rest', options, optionTable, {
    prefix: 'path',
    basePath: 'path',
    timeoutMs: 'requestTimeoutMs',
  });
  const { path, publicUrl, securitySchemes, auth } = options;
  if (path !== undefined) checkPath(path, '"path"');
  const edge = protect<Req>(
    server,
    { auth } as { readonly auth?: AuthProvider | Authenticate<Req> },
    { publicUrl } as { readonly publicUrl?: string },
  );
  const provider = typeof auth === 'object' ? auth : auth === undefined ? providerOf(server) : undefined;
  const endpoint = restEndpoint({
    ...options,
    path: path === '/' ? '' : path,
    dispatch: server.dispatch,
    protectedBy: edge && restAuth(edge.auth),
    warn: (message) => server.logger?.('warning', message),
    documentFor: documentPrinter({
      dispatch: server.dispatch,
      info: server.info,
      url: '.',
      provider,
      securitySchemes,
    }),
  });
  function handle(request: Request, context?: RequestContext): Promise<Response> {
    const { incoming, response } = webIncoming(request, context);
    endpoint.handle(incoming, () => undefined);
    return response;
  }
  return Object.assign(handle, {
    node: nodeHandler(endpoint),
    async close(closing?: CloseOptions) {
      await endpoint.close(closing);
      await edge?.close();
    },
  });
}

/** The code for Node is loaded with the first request, so that other runtimes never load it. */
function nodeHandler(endpoint: HttpEndpoint): RestHandler['node'] {
  let loading: Promise<RestHandler['node']> | undefined;
  const load = async (): Promise<RestHandler['node']> =>
    (await import('./adapters/node/server/handler.js')).nodeHandler(endpoint);
  return async function nodeRest(req, res) {
    loading ??= load();
    await (await loading)(req, res);
  };
}

/** The options of `toOpenAPI`. */
export interface ToOpenAPIOptions {
  /** The caller whose view the document has. Default: an anonymous one. */
  readonly auth?: AuthInit | undefined;
  /** The URL of the API. Default: the document does not say where the API is. */
  readonly url?: string | undefined;
  /** The security schemes of the document. Default: those of the server's `auth`, as far as they can be known. */
  readonly securitySchemes?: Readonly<Record<string, object>> | undefined;
}

const documentTable = {
  auth: 'any',
  url: 'string',
  securitySchemes: 'object',
} as const satisfies OptionTable<ToOpenAPIOptions>;

/**
 * Makes the OpenAPI document (3.1) of a server, as `rest` serves it: the tools, prompts and resources that a caller sees.
 *
 * @example
 * await writeFile('openapi.json', JSON.stringify(await toOpenAPI(server, { url: 'https://api.example.com' })));
 */
export async function toOpenAPI(
  server: RestSource,
  options: ToOpenAPIOptions = {},
): Promise<Readonly<Record<string, unknown>>> {
  const { auth, url, securitySchemes } = readOptions('toOpenAPI', options, documentTable, {
    baseUrl: 'url',
    caller: 'auth',
  });
  const caller = { auth: toAuth(auth) };
  const { dispatch, info } = server;
  return serverDocument({ dispatch, info, url, caller, provider: providerOf(server), securitySchemes });
}

function providerOf({ auth }: RestSource): AuthProvider | undefined {
  return auth?.isFunction === true ? undefined : auth?.provider;
}
