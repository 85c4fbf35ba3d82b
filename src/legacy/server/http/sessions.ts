import { Lifetime, withSignal } from '../../../async/lifetime.js';
import {
  type Message,
  printError,
  printResult,
  type RequestId,
  type RequestMessage,
} from '../../../jsonrpc/message.js';
import type { Call, Dispatch } from '../../../protocol/call.js';
import { principalOf } from '../../../protocol/caller.js';
import { readSecrets } from '../../../protocol/checks/secret.js';
import { McpError, toMcpError } from '../../../protocol/errors.js';
import { newestSession } from '../../../protocol/tables/features.js';
import type { EventLog } from '../../../state/event-log.js';
import { memoryEventLog } from '../../../state/memory-event-log.js';
import type { EraContext, SessionEra } from '../../../transports/http/server/endpoint.js';
import { callerOf, type HeaderFields, type Incoming } from '../../../transports/http/server/incoming.js';
import { refuse } from '../../../transports/http/server/refusal.js';
import { replyJson } from '../../../transports/http/server/reply.js';
import { batchProblem, collector, readInBatch } from '../channel-session.js';
import type { SessionRequest } from '../forward.js';
import { readHandshake } from '../session.js';
import { getStreams } from './get-stream.js';
import { GuardedLog } from './guarded-log.js';
import { httpSse } from './http-sse.js';
import { sessionIds } from './session-id.js';
import { SessionReply } from './session-reply.js';
import { sessionRequests } from './session-request.js';
import { type LiveSession, SessionTable } from './session-table.js';

// Serves the session era over HTTP.

/** The options of sessions, for clients of 2025-11-25 and older. */
export interface SessionOptions {
  /**
   * The secret that signs session ids: at least 32 characters. With the same secret in every process, sessions survive restarts
   * and changes of process. Of several, in an array or with commas between them, the first signs and all of them are accepted:
   * put a new secret first, and remove the old one when its sessions have expired. Default: `MCP_SECRET` with `serve`,
   * otherwise a random one.
   */
  readonly secret?: string | readonly string[] | undefined;
  /**
   * The number of sessions in memory. At the limit, an idle session is removed from memory; if none is idle, a new session is
   * rejected with 503. Default: 10,000.
   */
  readonly maxSessions?: number;
  /**
   * The time after which a session without requests and open streams is removed from memory, in milliseconds. Its client can
   * continue, but loses its log level and subscriptions. Default: 10 minutes.
   */
  readonly sessionIdleMs?: number;
  /** The time after which a session expires, in milliseconds. Its client has to initialize a new one. Default: 24 hours. */
  readonly sessionMaxAgeMs?: number;
  /** The delay after which clients reconnect to a stream, in milliseconds. Default: 1 s. */
  readonly retryMs?: number;
  /** Stores the events that clients can fetch after they have lost their connection. Default: `memoryEventLog()`. */
  readonly eventLog?: EventLog;
}

/** The options, and the parts that an entry passes in. */
export interface SessionParts extends SessionOptions {
  /** Reports a problem to the operator. */
  readonly warn?: ((message: string) => void) | undefined;
}

const SESSION = 'mcp-session-id';

/** Serves Streamable HTTP with sessions (2025-03-26 to 2025-11-25) and HTTP+SSE (2024-11-05). */
export function httpSessions(
  dispatch: Dispatch,
  options: SessionParts = {},
): (context: EraContext) => SessionEra {
  const {
    maxSessions = 10_000,
    sessionIdleMs = 600_000,
    sessionMaxAgeMs = 86_400_000,
    retryMs = 1000,
  } = options;
  const secrets = options.secret === undefined ? undefined : readSecrets(options.secret);
  return function httpSessions({ streams, inFlight, read }) {
    const log = new GuardedLog(options.eventLog ?? memoryEventLog(), { warn: options.warn });
    const ids = sessionIds({ secrets, maxAgeMs: sessionMaxAgeMs });
    const table = new SessionTable({ ids, dispatch, maxSessions, idleMs: sessionIdleMs });
    const listen = getStreams({ streams, log, retryMs });
    const sse = httpSse({ dispatch, streams, read, maxConnections: maxSessions });

    async function post(
      incoming: Incoming,
      body: Message | readonly unknown[],
      headers: HeaderFields,
    ): Promise<void> {
      if (isBatch(body)) return postBatch(incoming, body, headers);
      if (body.kind === 'request' && body.method === 'initialize') return initialize(incoming, body, headers);
      const live = await find(incoming, headers, body.kind === 'request' ? body.id : undefined);
      if (live === undefined) return;
      if (body.kind === 'request') {
        const reply = replyFor(incoming, live, headers, [body.id]);
        return serve(live, body, { incoming, reply, respond: (text) => reply.finish(text) });
      }
      if (body.kind === 'notification') cancelCall(live, body);
      else if (!live.session.clientRequests.receive(body))
        return refuse(incoming, 400, reportUnknownResponse(live), headers);
      incoming.reply(202, headers);
    }

    async function initialize(
      incoming: Incoming,
      message: RequestMessage,
      headers: HeaderFields,
    ): Promise<void> {
      try {
        const caller = callerOf(incoming);
        const { id, session } = await table.open(readHandshake(message.params), caller);
        const forward: SessionRequest['forward'] = (peer, params, { method } = message) =>
          dispatch(
            withSignal({ id: message.id, method, params, peer, ...caller, notify: ignore }, new Lifetime()),
          );
        const result = await session.initialize(forward);
        replyJson(incoming, 200, printResult(message.id, result), { ...headers, [SESSION]: id });
      } catch (error) {
        const failure = toMcpError(error);
        replyJson(incoming, 200, printError(message.id, failure.toWire(newestSession)), headers);
      }
    }

    /** The session of a request. If there is none, replies with the reason. */
    async function find(
      incoming: Incoming,
      headers: HeaderFields,
      id?: RequestId,
    ): Promise<LiveSession | undefined> {
      const sessionId = incoming.header(SESSION);
      const live = sessionId === undefined ? undefined : await table.find(sessionId, principalOf(incoming));
      if (live !== undefined) return live;
      const message =
        sessionId === undefined
          ? 'There is no session. Send "initialize" first, or put the protocol version into params._meta.'
          : 'The session is unknown. Send "initialize" again.';
      replyJson(
        incoming,
        sessionId === undefined ? 400 : 404,
        printError(id, { code: -32600, message }),
        headers,
      );
      return undefined;
    }

    function replyFor(
      incoming: Incoming,
      live: LiveSession,
      headers: HeaderFields,
      ids: readonly RequestId[],
    ): SessionReply {
      const onLost = (): void => {
        for (const id of ids)
          live.calls.get(id)?.end(new McpError('connection_closed', 'The client went away'));
      };
      return new SessionReply(incoming, { live, streams, log, retryMs, headers, ids, onLost });
    }

    // Behind a load balancer, another process asked the question and is waiting for the answer, so the operator must know.
    function reportUnknownResponse(live: LiveSession): string {
      if (!live.hasWarned)
        options.warn?.(
          'A client answered a question that this process did not ask. Behind a load balancer, send all requests of a session to the same process.',
        );
      live.hasWarned = true;
      return 'This process did not ask a question with this id.';
    }

    const serve = sessionRequests({ dispatch, inFlight });

    async function postBatch(
      incoming: Incoming,
      values: readonly unknown[],
      headers: HeaderFields,
    ): Promise<void> {
      const live = await find(incoming, headers);
      if (live === undefined) return;
      const problem = batchProblem(values, live.session);
      if (problem !== undefined) return refuse(incoming, 400, problem, headers);
      const messages = values.map(readInBatch);
      const requests = messages.filter((message) => message.kind === 'request');
      const reply = replyFor(
        incoming,
        live,
        headers,
        requests.map(({ id }) => id),
      );
      const invalid = messages.filter((message) => message.kind === 'invalid');
      if (requests.length + invalid.length === 0) incoming.reply(202, headers);
      const collect = collector(requests.length + invalid.length, (text) => reply.finish(text));
      for (const { id, reason } of invalid) collect(printError(id, { code: -32600, message: reason }));
      for (const message of messages) {
        if (message.kind === 'notification') cancelCall(live, message);
        else if (message.kind !== 'invalid' && !live.session.clientRequests.receive(message))
          reportUnknownResponse(live);
      }
      await Promise.all(
        requests.map((message) => serve(live, message, { incoming, reply, respond: collect })),
      );
    }

    async function other(
      incoming: Incoming,
      route: 'mcp' | 'sse' | 'messages',
      headers: HeaderFields,
    ): Promise<void> {
      if (route !== 'mcp') return sse.handle(incoming, route, headers);
      const sessionId = incoming.header(SESSION);
      const isAllowed = incoming.method === 'GET' || incoming.method === 'DELETE';
      if (!isAllowed || sessionId === undefined) {
        const allow = sessionId === undefined ? 'POST, OPTIONS' : 'GET, POST, DELETE, OPTIONS';
        const problem = isAllowed ? 'needs the header Mcp-Session-Id.' : 'is not served here';
        return refuse(incoming, 405, `${incoming.method} ${problem}`, { ...headers, allow });
      }
      const live = await find(incoming, headers);
      if (live === undefined) return;
      if (incoming.method === 'DELETE') {
        table.end(live);
        return incoming.reply(200, headers);
      }
      return listen(incoming, live, headers);
    }

    return {
      post,
      other,
      async close(deadline) {
        table.close();
        await sse.close(deadline);
      },
    };
  };
}

function ignore(): void {
  // A handshake has no notifications.
}

function isBatch(body: Message | readonly unknown[]): body is readonly unknown[] {
  return Array.isArray(body);
}

function cancelCall(
  live: LiveSession,
  { method, params }: { readonly method: string; readonly params: Call['params'] | undefined },
): void {
  if (method !== 'notifications/cancelled') return;
  live.calls
    .get(params?.['requestId'] as RequestId)
    ?.end(new McpError('cancelled', 'The client cancelled the call'));
}
