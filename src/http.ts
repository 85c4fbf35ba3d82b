// The entry `fullmcp/http`: serves over HTTP on every runtime.

import { settlesWithin } from './async/deadline.js';
import { foreignHandlerNames, handlerKeys } from './legacy/server/http/handler-keys.js';
import { httpSessions, type SessionOptions } from './legacy/server/http/sessions.js';
import type { Auth } from './protocol/call.js';
import { type Authenticate, toAuth } from './protocol/caller.js';
import { checkOptions, type KeysOf } from './protocol/checks/known-keys.js';
import { McpError } from './protocol/errors.js';
import type { CoreServer } from './server/create-server.js';
import { mask } from './server/results/tool-error.js';
import { logToConsole } from './server/state/log.js';
import { type HttpEndpoint, type HttpOptions, httpEndpoint } from './transports/http/server/endpoint.js';
import type { Incoming } from './transports/http/server/incoming.js';
import { checkPath } from './transports/http/server/routes.js';
import { type RequestContext, webIncoming } from './transports/http/server/web.js';

export type { Authenticate, AuthInit } from './protocol/caller.js';
export type { AppendOptions, EventLog, FollowedStream, LoggedEvent } from './state/event-log.js';
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
   * Identifies the caller before the body is read. The caller is in `ctx.auth`, and tasks and sessions belong to it. If the
   * promise takes longer than 30 s, the request is refused with 503. Default: callers are anonymous.
   */
  readonly auth?: Authenticate<Request> | undefined;
}

/** An HTTP handler for runtimes with `Request` and `Response`. */
export interface Handler {
  /** Replies to a request. On Workers, pass the context too: over HTTP+SSE, a call continues after the reply to its POST. */
  (request: Request, context?: RequestContext): Promise<Response>;
  /** Ends subscriptions, lets open calls finish until the deadline, and refuses new ones. */
  readonly close: (options?: {
    /** The time for open calls to finish; then they are ended. Default: 10 s. */
    readonly deadlineMs?: number;
  }) => Promise<void>;
}

/** The members of a server that a handler needs. The handler gives its `secret` to a server that has none. */
export type DispatchSource = Pick<CoreServer, 'dispatch'> &
  Partial<Pick<CoreServer, 'provideSecret' | 'logger' | 'shared'>>;

/**
 * Makes an HTTP handler for runtimes with `Request` and `Response`: Bun, Deno, Workers, Hono and others. It serves all
 * revisions, on whatever path it is mounted.
 *
 * @example
 * const handler = createHandler(server, { allowedHosts: ['mcp.example.com'] });
 * export default { fetch: (request: Request) => handler(request) };
 */
export function createHandler(server: DispatchSource, options: HandlerOptions = {}): Handler {
  checkOptions('createHandler', options, handlerKeys satisfies KeysOf<HandlerOptions>, foreignHandlerNames);
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

/** Makes the endpoint itself, for adapters that have no `Request`. */
export function createEndpoint<Raw>(
  server: DispatchSource,
  options: EndpointOptions & { readonly auth?: Authenticate<Raw> | undefined } = {},
): HttpEndpoint {
  const { sessions = true, secret, path } = options;
  if (path !== undefined) checkPath(path, '"path"');
  if (secret !== undefined) server.provideSecret?.(secret);
  const warn = (message: string): void => server.logger?.('warning', message);
  return httpEndpoint(
    server.dispatch,
    {
      ...options,
      authenticate: authenticator(server, options.auth),
      warn,
      isReady: server.shared?.isReady,
    },
    sessions ? httpSessions(server.dispatch, { ...options, warn, shared: server.shared }) : undefined,
  );
}

/** Makes a function that runs `auth` on a request. An unexpected error is masked and logged, like a handler's error. */
export function authenticator<Raw>(
  { logger: log = logToConsole }: Pick<DispatchSource, 'logger'>,
  auth: Authenticate<Raw> | undefined,
): ((incoming: Incoming) => Promise<Auth | undefined>) | undefined {
  if (auth === undefined) return undefined;
  if (typeof auth !== 'function') throw new TypeError('"auth" must be a function that takes the request.');
  return async function authenticate({ raw }) {
    try {
      const result = auth(raw as Raw);
      return toAuth((result instanceof Promise ? await authenticateInTime(result) : result) ?? undefined);
    } catch (error) {
      if (McpError.is(error)) throw error;
      throw new McpError('internal_error', mask(error, '"auth"', log), { status: 500 });
    }
  };
}

const AUTH_MS = 30_000;

// No other timeout applies yet: if the service that checks tokens is unavailable, requests would accumulate.
async function authenticateInTime<T>(result: Promise<T>): Promise<T> {
  if (await settlesWithin(result, AUTH_MS)) return result;
  throw new McpError('overloaded', 'The caller could not be authenticated in time. Try again later.');
}
