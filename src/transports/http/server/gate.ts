import type { Auth } from '../../../protocol/call.js';
import { createGuard, type GuardOptions, refusalStatus } from './guard.js';
import type { InFlight } from './in-flight.js';
import { type HeaderFields, type Incoming, noHeaders, type Protection, replyJson } from './incoming.js';
import type { Refusals } from './refusal.js';
import { type ReceivedParts, ReceivedRequest } from './request-body.js';
import type { Route } from './routes.js';
import { readTrustProxy, type TrustProxyOptions } from './trusted-proxies.js';

/** The options that decide which requests are served. */
export interface GateOptions extends GuardOptions {
  readonly writeTimeoutMs?: number;
  readonly trustProxy?: false | number | readonly string[] | TrustProxyOptions | undefined;
  /** Identifies the callers of requests, before their bodies are read. Default: callers are anonymous. */
  readonly protectedBy?: EndpointAuth | undefined;
  /** Called with the reason when a request is refused for its host or origin, once for each reason. */
  readonly warn?: ((message: string) => void) | undefined;
  /** Whether everything responds that calls need. Default: it does. */
  readonly isReady?: (() => Promise<boolean>) | undefined;
}

/** The authorization of an endpoint. */
export interface EndpointAuth extends Protection {
  /** Resolves when requests can be checked; undefined if they can be now. */
  starting(): Promise<void> | undefined;
  /** The caller; undefined for an anonymous one. Throws an `McpError` to refuse the request. */
  authenticate(incoming: Incoming): Auth | undefined | Promise<Auth | undefined>;
  /**
   * Replies to a request that needs no caller: for metadata, or for a page of the provider. Undefined if the request is none of
   * these. The host of the request has been checked.
   */
  servePublic(incoming: Incoming, route: Route | undefined): Promise<void> | undefined;
}

/** A route of requests that need a caller. */
export type ServedRoute = Exclude<Route, 'health' | 'ready'>;

/** The parts of an endpoint that serve the requests that were let in. */
export interface GateParts extends ReceivedParts {
  readonly inFlight: InFlight;
  readonly refusals: Refusals;
  /** The route of a path; undefined if nothing is served there. */
  readonly routeOf: (path: string) => Route | undefined;
  /** Replies to a person who opens the endpoint in a browser; undefined if the request is not that. */
  readonly replyToBrowser?:
    | ((incoming: Incoming, route: Route | undefined, headers: HeaderFields) => Promise<void> | undefined)
    | undefined;
  /** Replies to a request, and finishes it. */
  readonly serve: (received: ReceivedRequest, route: ServedRoute) => void;
}

/**
 * Decides which requests an endpoint serves: those for its paths, addressed to its hosts, from allowed pages, of callers that its `auth`
 * knows. Returns the function that handles requests, calls `done` after each reply, and never throws.
 */
export function httpGate(
  options: GateOptions,
  parts: GateParts,
): (incoming: Incoming, done: () => void) => void {
  const { inFlight, refusals, routeOf, serve } = parts;
  const { protectedBy, writeTimeoutMs = 30_000 } = options;
  const clientAddress = readTrustProxy(options.trustProxy);
  const guard = createGuard(options, { warn: options.warn, hasAuth: protectedBy !== undefined });

  function handle(incoming: Incoming, done: () => void): void {
    incoming.writeTimeoutMs = writeTimeoutMs;
    incoming.endpoint = inFlight;
    if (clientAddress !== undefined) incoming.clientAddress = clientAddress;
    const received = new ReceivedRequest(incoming, parts, done);
    try {
      const route = admit(received);
      if (route === undefined) received.finish();
      else if (typeof route !== 'string') received.finishAfter(route);
      else if (protectedBy === undefined) serve(received, route);
      else serveCaller(received, route, protectedBy.authenticate(incoming));
    } catch (error) {
      received.fail(error);
    }
  }

  function serveCaller(
    received: ReceivedRequest,
    route: ServedRoute,
    auth: Auth | undefined | Promise<Auth | undefined>,
  ): void {
    const { incoming } = received;
    if (!(auth instanceof Promise)) {
      incoming.auth = auth;
      return serve(received, route);
    }
    auth
      .then((caller) => {
        incoming.auth = caller;
        serve(received, route);
      })
      .catch((error) => received.fail(error));
  }

  /** The route of a request; undefined if the request has its reply already, a promise if it will have it. */
  function admit(received: ReceivedRequest): ServedRoute | undefined | Promise<unknown> {
    const { incoming } = received;
    const route = routeOf(incoming.path);
    if (route === 'health') return void replyJson(incoming, 200, '{"status":"ok"}', noHeaders);
    if (route === 'ready') return replyReadiness(incoming);
    if (protectedBy !== undefined) {
      const starting = protectedBy.starting();
      if (starting !== undefined) return starting.then(() => again(incoming));
      incoming.protection = protectedBy;
      const notHere = guard.refuseHost(incoming);
      if (notHere !== undefined)
        return void refusals.refuse(incoming, refusalStatus(incoming), notHere, noHeaders);
      const replying = protectedBy.servePublic(incoming, route);
      if (replying !== undefined) return replying;
    }
    const refused = guard.refuse(incoming);
    if (refused !== undefined)
      return void refusals.refuse(incoming, refusalStatus(incoming), refused, noHeaders);
    const headers = guard.cors(incoming);
    received.headers = headers;
    const replying = incoming.method === 'GET' ? parts.replyToBrowser?.(incoming, route, headers) : undefined;
    if (replying !== undefined) return replying;
    if (route === undefined)
      return void refusals.refuse(incoming, 404, 'Nothing is served at this path', headers);
    if (incoming.method === 'OPTIONS') return void incoming.reply(204, guard.preflight(incoming));
    if (!inFlight.draining) return route;
    const closing = { ...headers, 'retry-after': '5', connection: 'close' };
    return void refusals.refuse(incoming, 503, 'The server is shutting down', closing);
  }

  function again(incoming: Incoming): Promise<void> {
    return new Promise((done) => handle(incoming, done));
  }

  async function replyReadiness(incoming: Incoming): Promise<void> {
    // Anybody may ask, so the reason is only in the log.
    const isReady = inFlight.isLeaving || (await options.isReady?.()) !== false;
    const status = inFlight.isLeaving ? 'draining' : isReady ? 'ready' : 'unavailable';
    replyJson(incoming, status === 'ready' ? 200 : 503, JSON.stringify({ status }), noHeaders);
  }

  return handle;
}
