import { delay } from '../../../async/delay.js';
import { type Message, printResult, type RequestMessage, readMessage } from '../../../jsonrpc/message.js';
import { type Dispatch, type Outcome, printOutcome } from '../../../protocol/call.js';
import { fillDefaults, timerMs } from '../../../protocol/checks/options.js';
import { copyCall, type DirectDispatch, toDirect } from '../../../protocol/direct.js';
import { isModern } from '../../../protocol/era.js';
import { McpError, toMcpError } from '../../../protocol/errors.js';
import { readPeer } from '../../../protocol/meta.js';
import { staysOpen } from '../../../protocol/standing-calls.js';
import type { ParsedMessage } from '../../server/channel.js';
import { checkHeaders } from './check-headers.js';
import { type StreamLimits, Streams } from './event-streams.js';
import { type GateOptions, httpGate, type ServedRoute } from './gate.js';
import type { GuardOptions } from './guard.js';
import { InFlight } from './in-flight.js';
import type { BodyLimits, HeaderFields, Incoming } from './incoming.js';
import { PostedCall } from './posted-call.js';
import { refuse, replyWithError, rpcRefusals } from './refusal.js';
import { ReplyWriter } from './reply.js';
import { checkBodyType, parseBody, type ReceivedRequest, readBody } from './request-body.js';
import { type Route, type Routes, routeOf } from './routes.js';
import type { TrustProxyOptions } from './trusted-proxies.js';

/** The options of an HTTP endpoint. */
export interface HttpOptions extends GuardOptions, Partial<StreamLimits>, Routes {
  /**
   * The largest body that is read, in bytes; a larger one is refused with 413. Default: `MCP_MAX_BODY_BYTES` with `serve`, then
   * 4 MB.
   */
  readonly maxBodyBytes?: number;
  /** The deepest nesting of a body's JSON; a deeper one is refused with 400. Default: 128. */
  readonly maxDepth?: number;
  /** A request whose body stops arriving for this long is refused with 408. Ignored except on Node. Default: 30 s. */
  readonly bodyTimeoutMs?: number;
  /** A client that reads nothing of a reply for this long is disconnected. Ignored except on Node. Default: 30 s. */
  readonly writeTimeoutMs?: number;
  /**
   * A call that takes longer is ended with the error `timeout`. Subscriptions are exempt. Default: `MCP_REQUEST_TIMEOUT_MS` with
   * `serve`, then 10 minutes.
   */
  readonly requestTimeoutMs?: number;
  /**
   * The proxies in front of the server, whose header `X-Forwarded-For` is believed: their number, if every request passes them, or
   * their IP addresses and ranges. `request.remoteAddress` is then that of the client. `Forwarded` and other headers need an object with
   * `header`. Default: `MCP_TRUST_PROXY` with `serve`, then none: the address is that of the connection.
   */
  readonly trustProxy?: false | number | readonly string[] | TrustProxyOptions | undefined;
}

/** The table of `HttpOptions`. The paths, hosts and origins are checked where they are read. */
export const httpTable = {
  path: 'any',
  card: 'any',
  allowedHosts: 'any',
  allowedOrigins: 'any',
  publicUrl: 'any',
  trustProxy: 'any',
  maxBodyBytes: { is: 'number', default: 4_194_304 },
  maxDepth: { is: 'number', default: 128 },
  bodyTimeoutMs: { is: 'ms', default: 30_000 },
  writeTimeoutMs: { is: 'ms', default: 30_000 },
  requestTimeoutMs: { is: 'ms', default: 600_000 },
  keepAliveMs: { is: 'ms', default: 15_000 },
  maxAgeMs: { is: 'ms', default: 3_600_000 },
  maxBufferedBytes: { is: 'number', default: 4_194_304 },
} as const;

/** The options of an HTTP endpoint with the parts that a transport adds. */
export interface HttpEndpointOptions extends HttpOptions, GateOptions {
  /** The name of the server, for the page that a browser gets. Default: the page has none. */
  readonly serverName?: string | undefined;
}

/** Serves the messages and requests of the session era, if that is enabled. */
export interface SessionEra {
  /** A POST whose body is not a modern message: one session-era message, or a batch. */
  post(incoming: Incoming, body: Message | readonly unknown[], headers: HeaderFields): Promise<void>;
  /** GET, DELETE, and every request to the paths of HTTP+SSE. */
  other(incoming: Incoming, route: 'mcp' | 'sse' | 'messages', headers: HeaderFields): Promise<void>;
  /** Lets calls that are not in `inFlight` finish until the deadline. */
  close(options: { readonly deadlineMs: number }): Promise<void>;
}

/** The parts of the endpoint that the session era uses. */
export interface EraContext {
  readonly streams: Streams;
  readonly inFlight: InFlight;
  /** Reads a body and checks it as that of every POST. */
  readonly read: (incoming: Incoming) => Promise<ParsedMessage>;
}

export interface HttpEndpoint {
  /** Replies to one request, and calls `done` afterwards. Never throws. */
  readonly handle: (incoming: Incoming, done: () => void) => void;
  /** Announces the shutdown: `/ready` replies with 503, and each connection ends with its reply. Calls are still served. */
  readonly leave: () => void;
  /** Leaves for `delayMs`, and then lets open calls finish until the deadline. */
  readonly close: (options?: CloseOptions) => Promise<void>;
}

/** The options for closing an HTTP handler. */
export interface CloseOptions {
  /** The time for which calls are still served while `/ready` replies with 503, so that balancers can choose another server. Default: 0. */
  readonly delayMs?: number;
  /** The time for open calls to finish after that; then they are ended. Default: 10 s. */
  readonly deadlineMs?: number;
}

/** The MCP endpoint on any HTTP runtime: checks a request, parses it once, makes the call, and writes one reply. */
export function httpEndpoint(
  dispatch: Dispatch,
  options: HttpEndpointOptions,
  sessionEra?: (context: EraContext) => SessionEra,
): HttpEndpoint {
  const settings = fillDefaults<HttpOptions, typeof httpTable>(options, httpTable);
  const { maxBodyBytes, maxDepth, requestTimeoutMs, bodyTimeoutMs } = settings;
  const limits: BodyLimits = { maxBytes: maxBodyBytes, silenceMs: bodyTimeoutMs };
  const { keepAliveMs, maxAgeMs, maxBufferedBytes, writeTimeoutMs } = settings;
  const direct: DirectDispatch = toDirect(dispatch) ?? (async (call) => dispatch(copyCall(call)));
  const streams = new Streams({ keepAliveMs, maxAgeMs, maxBufferedBytes });
  const inFlight = new InFlight(requestTimeoutMs);
  const sessions = sessionEra?.({
    streams,
    inFlight,
    read: (incoming) => readBody(incoming, { ...limits, maxDepth }),
  });

  /** Replies with a page to a person who opens the endpoint, or the root of the server, in a browser. */
  function replyToBrowser(
    incoming: Incoming,
    route: Route | undefined,
    headers: HeaderFields,
  ): Promise<void> | undefined {
    const isRoot = route === undefined && incoming.path === '/';
    if ((route !== 'mcp' && !isRoot) || !isBrowser(incoming)) return undefined;
    const { path = incoming.path, publicUrl, serverName, protectedBy } = options;
    // With `auth`, only callers that it knows learn the name.
    const name = protectedBy === undefined ? serverName : undefined;
    return import('./browser-page.js').then(({ replyWithPage }) =>
      replyWithPage(incoming, { name, path, publicUrl }, headers),
    );
  }

  function serve(received: ReceivedRequest, route: ServedRoute): void {
    const { incoming, headers } = received;
    if (incoming.method === 'POST' && route === 'mcp') {
      checkBodyType(incoming);
      incoming.read(limits, received);
    } else if (sessions === undefined) {
      refuse(incoming, 405, `${incoming.method} is not served here`, { ...headers, allow: 'POST, OPTIONS' });
      received.finish();
    } else received.finishAfter(sessions.other(incoming, route, headers));
  }

  // Not async: an open subscription would keep the frame of the function alive.
  function post(incoming: Incoming, text: string, headers: HeaderFields): Promise<void> | void {
    const value = parseBody(text, maxDepth);
    if (Array.isArray(value)) {
      if (sessions !== undefined) return sessions.post(incoming, value, headers);
      throw new McpError('invalid_request', 'Batches are not part of this protocol revision');
    }
    const message = readMessage(value);
    if (message.kind === 'invalid') {
      const error = new McpError('invalid_request', `Invalid message: ${message.reason}`);
      return replyWithError(incoming, error, { id: message.id, headers });
    }
    if (sessions !== undefined && !isModern(message, incoming)) {
      return sessions.post(incoming, message, headers);
    }
    if (message.kind === 'request') return exchange(incoming, message, headers);
    if (message.kind === 'notification') return incoming.reply(202, headers);
    throw new McpError('invalid_request', 'A client sends requests and notifications, not responses');
  }

  function exchange(
    incoming: Incoming,
    message: RequestMessage,
    headers: HeaderFields,
  ): Promise<void> | void {
    const { id, method } = message;
    const writer = new ReplyWriter(incoming, streams, headers);
    try {
      checkHeaders(message, incoming);
      const peer = readPeer(message.params);
      if (staysOpen(method) && !writer.mayStream) {
        throw new McpError('invalid_request', `${method} needs a client that accepts text/event-stream`, {
          status: 406,
        });
      }
      const call = new PostedCall(incoming, { message, peer, writer });
      writer.call = call;
      const outcome = direct(call);
      if (outcome instanceof Promise) return settle(incoming, { call, writer, outcome });
      writer.finish(printResult(id, printOutcome(outcome)));
    } catch (error) {
      writer.fail(id, toMcpError(error));
    }
  }

  // A call that has ended synchronously cannot be cancelled or time out, and no shutdown waits for it. This one continues.
  async function settle(incoming: Incoming, { call, writer, outcome }: Pending): Promise<void> {
    const { id } = call;
    const { isSubscription } = call;
    const leave = inFlight.enter({
      isSubscription,
      end(why) {
        call.end(why);
        // A subscription ends its reply itself, with its result.
        if (!isSubscription) writer.fail(id, why);
      },
    });
    incoming.onGone(() => writer.onEnd('gone'));
    try {
      writer.finish(printResult(id, printOutcome(await outcome)));
    } catch (error) {
      writer.fail(id, toMcpError(error));
    } finally {
      leave();
    }
  }

  return {
    handle: httpGate(
      { ...options, writeTimeoutMs },
      {
        ...{ post, inFlight, serve, replyToBrowser, refusals: rpcRefusals },
        routeOf: (path) => routeOf(path, options),
      },
    ),
    leave: () => inFlight.leave(),
    async close({ delayMs = 0, deadlineMs = 10_000 } = {}) {
      inFlight.leave();
      if (delayMs > 0) await delay(timerMs(delayMs));
      await Promise.all([inFlight.drain(deadlineMs), sessions?.close({ deadlineMs })]);
    },
  };
}

/** A client that opens a stream of a session accepts only `text/event-stream`. */
function isBrowser(incoming: Incoming): boolean {
  const accept = incoming.header('accept');
  return accept?.includes('text/html') === true && !accept.includes('text/event-stream');
}

interface Pending {
  readonly call: PostedCall;
  readonly writer: ReplyWriter;
  readonly outcome: Promise<Outcome>;
}
