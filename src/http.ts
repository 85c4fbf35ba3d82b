// The entry `fullmcp/http`: serves over HTTP on every runtime.

import { checkHandlerOptions } from './legacy/server/http/handler-options.js';
import { httpSessions, type SessionOptions } from './legacy/server/http/sessions.js';
import type { Authenticate } from './protocol/caller.js';
import { McpError } from './protocol/errors.js';
import { newestRevision, revisions } from './protocol/tables/revisions.js';
import type { CoreServer } from './server/build/core-server.js';
import { mask } from './server/results/tool-error.js';
import type { Logger } from './server/state/log.js';
import type { AuthProvider } from './state/auth-provider.js';
import { authRun } from './state/auth-run.js';
import { stateOfOne } from './state/memory/state-of-one.js';
import { refusalListenersOf } from './state/refusal-listeners.js';
import { EdgeAuth } from './transports/http/server/auth/edge-auth.js';
import {
  type CloseOptions,
  type HttpEndpoint,
  type HttpOptions,
  httpEndpoint,
} from './transports/http/server/endpoint.js';
import { checkPath } from './transports/http/server/routes.js';
import { type RequestContext, webIncoming } from './transports/http/server/web.js';
import { RefusalReporter } from './transports/server/refusal-reporter.js';

export type { Authenticate } from './protocol/caller.js';
export type { EventLimits, EventLog, FollowedStream, LoggedEvent } from './state/event-log.js';
export { type MemoryEventLogOptions, memoryEventLog } from './state/memory/event-log.js';
export { unsafeAnyHost, unsafeAnyOrigin } from './transports/http/server/guard.js';
export type { RequestContext } from './transports/http/server/web.js';

/** The options of every HTTP handler. */
export interface EndpointOptions extends HttpOptions, SessionOptions {
  /** Whether clients that speak protocol revision 2025-11-25 or older are served. Default: true. */
  readonly sessions?: boolean;
}

/** The options of `createHandler`. */
export interface HandlerOptions extends EndpointOptions {
  /**
   * Identifies the caller before the body is read: a provider of `fullmcp/auth`, or a function of the request. The caller is in
   * `ctx.auth`, and tasks and sessions belong to it. If the promise takes longer than 30 s, the request is refused with 503.
   * Default: the `auth` of the server, then callers are anonymous.
   */
  readonly auth?: AuthProvider | Authenticate<Request> | undefined;
}

/** An HTTP handler for runtimes with `Request` and `Response`. */
export interface Handler {
  /** Replies to a request. On Workers, pass the context too: over HTTP+SSE, a call continues after the reply to its POST. */
  (request: Request, context?: RequestContext): Promise<Response>;
  /** Turns `/ready` to 503, ends subscriptions, lets open calls finish until the deadline, and refuses new ones. */
  readonly close: (options?: CloseOptions) => Promise<void>;
}

/** The members of a server that a handler needs. The handler gives its `secret` to a server that has none. */
export type DispatchSource = Pick<CoreServer, 'dispatch'> & {
  /** The name and version of the server. A gateway has a function instead, which is about the servers behind it. */
  readonly info?: CoreServer['info'] | (() => unknown);
} & Partial<
    Pick<CoreServer, 'provideSecret' | 'logger' | 'shared' | 'auth' | 'secrets' | 'isGuarded' | 'askingPage'>
  >;

/**
 * Makes an HTTP handler for runtimes with `Request` and `Response`: Bun, Deno, Workers, Hono and others. It serves all
 * revisions, on whatever path it is mounted.
 *
 * @example
 * const handler = createHandler(server, { allowedHosts: ['mcp.example.com'] });
 * export default { fetch: (request: Request) => handler(request) };
 */
export function createHandler(server: DispatchSource, options: HandlerOptions = {}): Handler {
  checkHandlerOptions('createHandler', options);
  const endpoint = createEndpoint(server, options);
  function handle(request: Request, context?: RequestContext): Promise<Response> {
    const { incoming, response } = webIncoming(request, context);
    endpoint.handle(incoming, ignore);
    return response;
  }
  return Object.assign(handle, { close: endpoint.close });
}

function ignore(): void {
  // The promise of the response is enough.
}

/** The `auth` of a transport: a provider, or a function of the runtime's request. */
type TransportAuth<Raw> = AuthProvider | Authenticate<Raw> | undefined;

/** Makes the endpoint itself, for adapters that have no `Request`. */
export function createEndpoint<Raw>(
  server: DispatchSource,
  options: EndpointOptions & { readonly auth?: TransportAuth<Raw> } = {},
  edge: EndpointEdge | undefined = protect(server, options),
): HttpEndpoint {
  const known = withPublicUrl(server, options);
  const { sessions = true, secret, path, publicUrl } = known;
  if (path !== undefined) checkPath(path, '"path"');
  if (secret !== undefined) server.provideSecret?.(secret);
  const warn = (message: string): void => server.logger?.('warning', message);
  const info = typeof server.info === 'function' ? undefined : server.info;
  const endpoint = httpEndpoint(
    server.dispatch,
    { ...known, protectedBy: edge?.auth, warn, isReady: server.shared?.isReady, serverName: info?.name },
    sessions ? httpSessions(server.dispatch, { ...known, warn, shared: server.shared }) : undefined,
  );
  if (known.card && typeof known.card['~serve'] !== 'function')
    throw new TypeError(
      '"card" must be a server card. Make one with serverCard of fullmcp/server-card: card: serverCard({ name: "com.example/weather" }).',
    );
  const serveCard = known.card?.['~serve']({
    ...{ info, publicUrl, path },
    revisions: sessions ? revisions : [newestRevision],
  });
  const { askingPage } = server;
  const handle: HttpEndpoint['handle'] =
    serveCard === undefined && askingPage === undefined
      ? endpoint.handle
      : function handleWithPages(incoming, done) {
          const replying =
            incoming.path === askingPage?.path
              ? import('./transports/http/server/auth/asked-page.js').then(({ replyAsked }) =>
                  replyAsked(incoming, askingPage, edge?.auth),
                )
              : serveCard?.(incoming);
          if (replying === undefined) endpoint.handle(incoming, done);
          else void replying.then(done, done);
        };
  if (edge === undefined) {
    if (server.isGuarded) warn(RULES_WITHOUT_AUTH);
    return { ...endpoint, handle };
  }
  return {
    handle,
    leave: endpoint.leave,
    async close(options) {
      await endpoint.close(options);
      await edge.close();
    },
  };
}

const RULES_WITHOUT_AUTH =
  'This server has access rules ("scopes" or "allow") and no "auth": over HTTP, every caller is anonymous and has no scopes, so nobody can use what needs one. Pass a provider of fullmcp/auth as "auth" to createServer(), serve() or the handler.';

/** The authorization of a transport, and the end of what the transport has started. */
export interface EndpointEdge {
  /** Checks the requests. */
  readonly auth: EdgeAuth;
  /** Closes the provider, if the transport has one of its own. */
  readonly close: () => Promise<void>;
}

/** Makes the authorization of a transport from its own `auth`, or else from that of the server; undefined if there is neither. */
export function protect<Raw>(
  server: DispatchSource,
  options: EndpointOptions & { readonly auth?: TransportAuth<Raw> },
  { path, publicUrl }: Pick<EndpointOptions, 'path' | 'publicUrl'> = withPublicUrl(server, options),
): EndpointEdge | undefined {
  const { auth } = options;
  const { logger: log = console.error as Logger } = server;
  const masked = (error: unknown, where: string): McpError =>
    new McpError('internal_error', mask(error, where, log), { status: 500 });
  const { info } = server;
  const listeners = refusalListenersOf(server);
  const name = typeof info === 'object' ? info.name : '';
  const parts = { path, publicUrl, mask: masked };
  const reporter = (): RefusalReporter => new RefusalReporter({ server: name, log, listeners });
  if (typeof auth === 'function') {
    const refused = reporter();
    return {
      auth: new EdgeAuth({ ...parts, refused, source: (raw) => auth(raw as Raw) }),
      close: () => refused.close(),
    };
  }
  const own = authRun(auth, () => ({
    shared: server.shared ?? stateOfOne(),
    secrets: server.secrets?.(),
    log,
  }));
  const source = own ?? server.auth;
  if (source === undefined) return undefined;
  const refused = reporter();
  return {
    auth: new EdgeAuth({ ...parts, refused, source }),
    async close() {
      await refused.close();
      await own?.close();
    },
  };
}

/** The options of a transport, with the public URL that its provider knows. Throws if the two have different ones. */
export function withPublicUrl<
  Options extends EndpointOptions & { readonly auth?: TransportAuth<never> | undefined },
>(server: DispatchSource, options: Options): Options {
  const { auth = server.auth?.provider, publicUrl } = options;
  const known = typeof auth === 'object' ? auth?.publicUrl : undefined;
  if (known === undefined) return options;
  if (publicUrl === undefined) return { ...options, publicUrl: known };
  // A slash at the end does not matter: clients leave it out, or add it.
  if (publicUrl.replace(/\/$/, '') === known.replace(/\/$/, '')) return options;
  throw new TypeError(
    `"publicUrl" is ${publicUrl}, but that of "auth" is ${known}: clients would ask for tokens for the first, and get them for the second. Use the same URL, or leave out the first.`,
  );
}
