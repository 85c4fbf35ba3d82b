// A server as a REST API: requests become calls of the server's own dispatch, and outcomes become replies.

import { delay } from '../../async/delay.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Auth, Call, Dispatch } from '../../protocol/call.js';
import { fillDefaults, timerMs } from '../../protocol/checks/options.js';
import { McpError, toMcpError } from '../../protocol/errors.js';
import { IDEMPOTENCY_KEY } from '../../protocol/tables/meta-keys.js';
import { newestRevision } from '../../protocol/tables/revisions.js';
import { TRACE_KEYS } from '../../protocol/telemetry/trace-keys.js';
import type { HttpEndpoint } from '../../transports/http/server/endpoint.js';
import { type GateOptions, httpGate } from '../../transports/http/server/gate.js';
import { InFlight } from '../../transports/http/server/in-flight.js';
import { callerOf, type HeaderFields, type Incoming } from '../../transports/http/server/incoming.js';
import { checkBodyType, parseBody, type ReceivedRequest } from '../../transports/http/server/request-body.js';
import { preferred } from './accept.js';
import { problemRefusals, replyError, replyProblem, safeHeaders } from './problem.js';
import { failureOf, representationsOf } from './representation.js';
import { type RestTarget, targetOf } from './rest-paths.js';

/** The limits of a REST endpoint. */
export interface RestLimits {
  /** The largest body that is read, in bytes; a larger one is refused with 413. Default: 4 MB. */
  readonly maxBodyBytes?: number;
  /** The deepest nesting of a body's JSON; a deeper one is refused with 400. Default: 128. */
  readonly maxDepth?: number;
  /** A request whose body stops arriving for this long is refused with 408. Ignored except on Node. Default: 30 s. */
  readonly bodyTimeoutMs?: number;
  /** A call that takes longer is ended with 504. Default: 10 minutes. */
  readonly requestTimeoutMs?: number;
}

/** The table of `RestLimits`. */
export const restTable = {
  maxBodyBytes: { is: 'number', default: 4_194_304 },
  maxDepth: { is: 'number', default: 128 },
  bodyTimeoutMs: { is: 'ms', default: 30_000 },
  requestTimeoutMs: { is: 'ms', default: 600_000 },
} as const;

/** The parts of a REST endpoint. */
export interface RestEndpointOptions extends RestLimits, GateOptions {
  readonly dispatch: Dispatch;
  /** The path that the paths of the API begin with. Default: a router has mounted the endpoint. */
  readonly path?: string | undefined;
  /** Makes the OpenAPI document for a caller, as JSON. */
  readonly documentFor: (caller: RestCaller) => Promise<string>;
}

/** The caller of a request. */
type RestCaller = Pick<Call, 'auth' | 'http'> & { readonly auth: Auth | undefined };

/** A client that neither answers questions nor follows tasks. */
export const restPeer: Call['peer'] = {
  ...{ revision: newestRevision, client: undefined, capabilities: {}, logLevel: undefined },
};

/** Makes the endpoint. */
export function restEndpoint(options: RestEndpointOptions): HttpEndpoint {
  const { dispatch, path, documentFor } = options;
  const settings = fillDefaults<RestLimits, typeof restTable>(options, restTable);
  const { maxBodyBytes, maxDepth, bodyTimeoutMs, requestTimeoutMs } = settings;
  const limits = { maxBytes: maxBodyBytes, silenceMs: bodyTimeoutMs };
  const inFlight = new InFlight(requestTimeoutMs);
  let calls = 0;

  const handle = httpGate(options, {
    ...{ inFlight, serve, post, refusals: problemRefusals },
    routeOf: (requested) => (targetOf(requested, path) === undefined ? undefined : 'mcp'),
  });

  function serve(received: ReceivedRequest): void {
    const { incoming, headers } = received;
    const target = targetOf(incoming.path, path) as RestTarget;
    const isCall = target.kind === 'tool' || target.kind === 'prompt';
    if (isCall ? incoming.method !== 'POST' : incoming.method !== 'GET' && incoming.method !== 'HEAD') {
      const allow = isCall ? 'POST, OPTIONS' : 'GET, HEAD, OPTIONS';
      problemRefusals.refuse(incoming, 405, `${incoming.method} is not served here`, { ...headers, allow });
      received.finish();
    } else if (isCall) {
      if (incoming.header('content-type') !== undefined) checkBodyType(incoming);
      incoming.read(limits, received);
    } else received.finishAfter(target.kind === 'document' ? describe(received) : read(received));
  }

  async function describe({ incoming, headers }: ReceivedRequest): Promise<void> {
    const body = await documentFor(callerOf(incoming) as RestCaller);
    send(incoming, { type: 'application/json', body }, headers);
  }

  function read({ incoming, headers }: ReceivedRequest): Promise<void> {
    const uris = new URLSearchParams(incoming.query).getAll('uri');
    if (uris.length !== 1 || uris[0] === '')
      throw new McpError(
        'invalid_request',
        'The query must have the URI of one resource, such as ?uri=docs%3A%2F%2Fintro.',
      );
    return answer(incoming, {
      method: 'resources/read',
      params: { uri: uris[0] },
      target: { kind: 'resource' },
      headers,
    });
  }

  function post(incoming: Incoming, text: string, headers: HeaderFields): Promise<void> {
    const target = targetOf(incoming.path, path) as RestTarget & { readonly name: string };
    if (text !== '') checkBodyType(incoming);
    const args = text === '' ? {} : parseBody(text, maxDepth);
    if (!isObject(args))
      throw new McpError('invalid_request', 'The body must be an object with the arguments.');
    const method = target.kind === 'tool' ? 'tools/call' : 'prompts/get';
    return answer(incoming, { method, params: { name: target.name, arguments: args }, target, headers });
  }

  async function answer(incoming: Incoming, { method, params, target, headers }: Question): Promise<void> {
    const abort = new AbortController();
    let isReplied = false;
    const reply = (write: () => void): void => {
      if (!isReplied) write();
      isReplied = true;
    };
    const fail = (error: unknown): void => reply(() => replyError(incoming, toMcpError(error), headers));
    const leave = inFlight.enter({
      isSubscription: false,
      end(why) {
        abort.abort(why);
        // A handler may ignore its signal.
        fail(why);
      },
    });
    incoming.onGone(() => abort.abort(new McpError('connection_closed', 'The client went away')));
    const { auth, http } = callerOf(incoming);
    try {
      const outcome = await dispatch({
        ...{ id: `rest-${++calls}`, method, params: withMeta(params, incoming), peer: restPeer, auth, http },
        ...{ via: { transport: 'http' }, signal: abort.signal, notify: ignore },
      });
      const failure = failureOf(outcome, target);
      const [usual, ...others] = failure === undefined ? representationsOf(outcome, target) : [];
      reply(() => {
        if (failure !== undefined) replyProblem(incoming, failure, headers);
        else if (usual === undefined) incoming.reply(204, { ...safeHeaders, ...headers });
        else send(incoming, preferred([usual, ...others], incoming.header('accept')), headers);
      });
    } catch (error) {
      fail(error);
    } finally {
      leave();
    }
  }

  return {
    handle,
    leave: () => inFlight.leave(),
    async close({ delayMs = 0, deadlineMs = 10_000 } = {}) {
      inFlight.leave();
      if (delayMs > 0) await delay(timerMs(delayMs));
      await inFlight.drain(deadlineMs);
    },
  };
}

interface Question {
  readonly method: string;
  readonly params: JsonObject;
  readonly target: RestTarget;
  readonly headers: HeaderFields;
}

/** Replies with a body. A reply depends on `Accept`, so that caches between must know. */
function send(
  incoming: Incoming,
  { type, body }: { readonly type: string; readonly body: string | Uint8Array<ArrayBuffer> },
  headers: HeaderFields,
): void {
  const vary = [headers['vary'], 'Accept'].filter((name) => name !== undefined).join(', ');
  const fields = { ...safeHeaders, ...headers, vary, 'content-type': type };
  if (incoming.method === 'HEAD') incoming.reply(200, fields);
  else if (typeof body === 'string') incoming.reply(200, fields, body);
  else void incoming.respond(new Response(body, { status: 200, headers: fields }));
}

/** Adds what headers say about the call: its trace, and the key that makes it idempotent. */
function withMeta(params: JsonObject, incoming: Incoming): JsonObject {
  const meta: JsonObject = {};
  for (const key of TRACE_KEYS.keys()) {
    const value = incoming.header(key);
    if (value !== undefined) meta[key] = value;
  }
  const key = incoming.header('idempotency-key');
  // The draft of the header quotes the key, most clients do not.
  if (key !== undefined) meta[IDEMPOTENCY_KEY] = /^"[^"]*"$/.test(key) ? key.slice(1, -1) : key;
  return { ...params, _meta: meta };
}

function ignore(): void {
  // Progress and log messages have no place in a single reply.
}
