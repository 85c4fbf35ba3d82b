import { foreignHandlerNames, handlerKeys } from './legacy/handler-keys.js';
import { httpSessions, type SessionOptions } from './legacy/http.js';
import type { Auth } from './protocol/call.js';
import { type Authenticate, toAuth } from './protocol/caller.js';
import { McpError } from './protocol/errors.js';
import { checkOptions, type KeysOf } from './protocol/known-keys.js';
import type { Server } from './server/create-server.js';
import { logToConsole } from './server/log.js';
import { mask } from './server/tool-error.js';
import { type HttpEndpoint, type HttpOptions, httpEndpoint } from './transports/http/endpoint.js';
import type { Incoming } from './transports/http/incoming.js';
import { checkPath } from './transports/http/routes.js';
import { type RequestContext, webIncoming } from './transports/http/web.js';

export {
  type EventLog,
  type EventsAfter,
  type LoggedEvent,
  type MemoryEventLogOptions,
  memoryEventLog,
} from './legacy/event-log.js';
export type { Authenticate, AuthInit } from './protocol/caller.js';
export { unsafeAnyHost, unsafeAnyOrigin } from './transports/http/guard.js';
export type { RequestContext } from './transports/http/web.js';

export interface EndpointOptions extends HttpOptions, SessionOptions {
  /** Whether clients of 2025 and before are served. They are. */
  readonly sessions?: boolean;
}

export interface HandlerOptions extends EndpointOptions {
  /** Says who sent a request, before its body is read. `ctx.auth` has it, and everything that is kept belongs to it. */
  readonly auth?: Authenticate<Request> | undefined;
}

export interface Handler {
  /** Answers a request. On Workers, hand over the context too: HTTP+SSE answers after its POST was answered. */
  (request: Request, context?: RequestContext): Promise<Response>;
  /** Ends subscriptions, lets open calls finish until the deadline, and refuses new ones. */
  readonly close: (options?: { readonly deadlineMs?: number }) => Promise<void>;
}

/** What a handler needs of a server. One that can ask takes the secret of the options too, where it has none. */
export type Served = Pick<Server, 'dispatch'> & Partial<Pick<Server, 'provideSecret' | 'log'>>;

/** Serves over HTTP wherever there is `Request` and `Response`: both eras, on whatever path it is mounted. */
export function createHandler(server: Served, options: HandlerOptions = {}): Handler {
  checkOptions('createHandler', options, handlerKeys satisfies KeysOf<HandlerOptions>, foreignHandlerNames);
  const endpoint = createEndpoint(server, options);
  function handle(request: Request, context?: RequestContext): Promise<Response> {
    const { incoming, answered } = webIncoming(request, context);
    void endpoint.handle(incoming);
    return answered;
  }
  return Object.assign(handle, { close: endpoint.close });
}

/** The endpoint itself, for adapters that have no `Request`. */
export function createEndpoint<Raw>(
  server: Served,
  options: EndpointOptions & { readonly auth?: Authenticate<Raw> | undefined } = {},
): HttpEndpoint {
  const { sessions = true, secret, path } = options;
  if (path !== undefined) checkPath(path, '"path"');
  if (secret !== undefined) server.provideSecret?.(secret);
  const warn = (message: string): void => server.log?.('warning', message);
  return httpEndpoint(
    server.dispatch,
    { ...options, authenticate: authenticator(server, options.auth), warn },
    sessions ? httpSessions(server.dispatch, { ...options, warn }) : undefined,
  );
}

/** Runs the `auth` of the options on a request. What it throws unexpectedly is masked and logged, as a handler's error is. */
export function authenticator<Raw>(
  { log = logToConsole }: Pick<Served, 'log'>,
  auth: Authenticate<Raw> | undefined,
): ((incoming: Incoming) => Promise<Auth | undefined>) | undefined {
  if (auth === undefined) return undefined;
  if (typeof auth !== 'function') throw new TypeError('"auth" must be a function of the request.');
  return async function authenticate({ raw }) {
    try {
      const given = auth(raw as Raw);
      return toAuth((given instanceof Promise ? await inTime(given) : given) ?? undefined);
    } catch (error) {
      if (McpError.is(error)) throw error;
      throw new McpError('internal_error', mask(error, '"auth"', log), { status: 500 });
    }
  };
}

const AUTH_MS = 30_000;

// Nothing else watches over a request yet: whoever checks tokens may be away, and clients would pile up.
function inTime<T>(given: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () =>
        reject(new McpError('overloaded', 'Who is calling could not be found out in time: try again later')),
      AUTH_MS,
    );
  });
  return Promise.race([given, late]).finally(() => clearTimeout(timer));
}
