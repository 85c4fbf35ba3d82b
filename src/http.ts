import { handlerKeys } from './legacy/handler-keys.js';
import { httpSessions, type SessionOptions } from './legacy/http.js';
import { checkOptions, type KeysOf } from './protocol/known-keys.js';
import type { Server } from './server/create-server.js';
import { type HttpEndpoint, type HttpOptions, httpEndpoint } from './transports/http/endpoint.js';
import { webIncoming } from './transports/http/web.js';

export {
  type EventLog,
  type LoggedEvent,
  type MemoryEventLogOptions,
  memoryEventLog,
} from './legacy/event-log.js';
export { unsafeAnyHost, unsafeAnyOrigin } from './transports/http/guard.js';

export interface HandlerOptions extends HttpOptions, SessionOptions {
  /** Whether clients of 2025 and before are served. They are. */
  readonly sessions?: boolean;
}

export interface Handler {
  (request: Request): Promise<Response>;
  /** Ends subscriptions, lets open calls finish until the deadline, and refuses new ones. */
  readonly close: (options?: { readonly deadlineMs?: number }) => Promise<void>;
}

/** What a handler needs of a server. One that can ask takes the secret of the options too, where it has none. */
export type Served = Pick<Server, 'dispatch'> & Partial<Pick<Server, 'provideSecret'>>;

/** Serves over HTTP wherever there is `Request` and `Response`: both eras, on whatever path it is mounted. */
export function createHandler(server: Served, options: HandlerOptions = {}): Handler {
  checkOptions('createHandler', options, handlerKeys satisfies KeysOf<HandlerOptions>);
  const endpoint = createEndpoint(server, options);
  function handle(request: Request): Promise<Response> {
    const { incoming, answered } = webIncoming(request);
    void endpoint.handle(incoming);
    return answered;
  }
  return Object.assign(handle, { close: endpoint.close });
}

/** The endpoint itself, for adapters that have no `Request`. */
export function createEndpoint(server: Served, options: HandlerOptions = {}): HttpEndpoint {
  const { sessions = true, secret } = options;
  if (secret !== undefined) server.provideSecret?.(secret);
  return httpEndpoint(
    server.dispatch,
    options,
    sessions ? httpSessions(server.dispatch, options) : undefined,
  );
}
