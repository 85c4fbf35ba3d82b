import { settlesWithin } from '../../../async/deadline.js';
import { Lifetime, withSignal } from '../../../async/lifetime.js';
import {
  type Message,
  printError,
  printResult,
  type RequestId,
  type RequestMessage,
} from '../../../jsonrpc/message.js';
import type { Dispatch } from '../../../protocol/call.js';
import { principalOf, storableAuth } from '../../../protocol/caller.js';
import { fillDefaults } from '../../../protocol/checks/options.js';
import { readSecrets } from '../../../protocol/checks/secret.js';
import { McpError, toMcpError } from '../../../protocol/errors.js';
import { hasHeartbeat } from '../../../protocol/standing-calls.js';
import { assumedSession, newestSession } from '../../../protocol/tables/features.js';
import type { SharedState } from '../../../state/cluster.js';
import type { EventLog } from '../../../state/event-log.js';
import { memoryEventLog } from '../../../state/memory/event-log.js';
import { stateOfOne } from '../../../state/memory/state-of-one.js';
import type { EraContext, SessionEra } from '../../../transports/http/server/endpoint.js';
import {
  callerOf,
  type HeaderFields,
  type Incoming,
  replyJson,
} from '../../../transports/http/server/incoming.js';
import { refuse, replyWithError } from '../../../transports/http/server/refusal.js';
import { batchProblem, collector, readInBatch } from '../channel-session.js';
import type { SessionRequest } from '../forward.js';
import { readHandshake } from '../handshake.js';
import type { CallRecord, StreamingCall } from '../shared/call-record.js';
import { SessionDirectory } from '../shared/session-directory.js';
import { sessionWarnings } from '../shared/session-warnings.js';
import { getStreams } from './get-stream.js';
import { GuardedLog } from './guarded-log.js';
import type { HttpSse } from './http-sse.js';
import type { ResumableStream } from './resumable-stream.js';
import { SessionCalls } from './session-calls.js';
import { sessionIds } from './session-id.js';
import { SessionReply } from './session-reply.js';
import type { Respond } from './session-request.js';
import { type LiveSession, SessionTable } from './session-table.js';

// Serves the session era over HTTP.

/** The options of sessions, for clients of 2025-11-25 and older. */
export interface SessionOptions {
  /**
   * The secret that signs session ids: at least 32 characters. With the same secret in every process, sessions survive restarts
   * and changes of process. In an array, the first secret signs and all of them are accepted: put a new one first, and remove the
   * old one when its sessions have expired. Default: `MCP_SECRET` (several with commas between them) with `serve`, otherwise a
   * random one.
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

/** The table of `SessionOptions`. */
export const sessionOptionTable = {
  secret: ['string', 'strings'],
  maxSessions: { is: 'number', default: 10_000 },
  sessionIdleMs: { is: 'ms', default: 600_000 },
  sessionMaxAgeMs: { is: 'ms', default: 86_400_000 },
  retryMs: { is: 'ms', default: 1000 },
  eventLog: 'any',
} as const;

/** The options, and the parts that an entry passes in. */
export interface SessionParts extends SessionOptions {
  /** The state that the processes of the server share. Default: this is the only process. */
  readonly shared?: SharedState | undefined;
  /** The time for which a call waits for the answers of its client. Default: 1 hour. */
  readonly askMs?: number | undefined;
  /** The time after which a process counts as dead. Default: that of the shared state. */
  readonly leaseMs?: number | undefined;
  /** Reports a problem to the operator. */
  readonly warn?: ((message: string) => void) | undefined;
}

const SESSION = 'mcp-session-id';
/** The requests that only change their session, and need one. */
const CHANGES_SESSION = /^(logging|resources\/(un)?subscribe)/;
/** The time for storing the ends of calls in a shutdown that gives calls less time. */
const MIN_CLOSE_MS = 5000;

/** Serves Streamable HTTP with sessions (2025-03-26 to 2025-11-25) and HTTP+SSE (2024-11-05). */
export function httpSessions(
  dispatch: Dispatch,
  options: SessionParts = {},
): (context: EraContext) => SessionEra {
  const settings = fillDefaults<SessionOptions, typeof sessionOptionTable>(options, sessionOptionTable);
  const { maxSessions, sessionIdleMs, sessionMaxAgeMs, retryMs } = settings;
  const secrets = options.secret === undefined ? undefined : readSecrets(options.secret);
  return function httpSessions({ streams, inFlight, read }) {
    const shared = options.shared ?? stateOfOne();
    const log = new GuardedLog(options.eventLog ?? shared.eventLog() ?? memoryEventLog(), {
      warn: options.warn,
    });
    const ids = sessionIds({ secrets, maxAgeMs: sessionMaxAgeMs });
    const { askMs = 3_600_000, leaseMs = shared.leaseMs, warn = ignore } = options;
    const { server, store, bus } = shared;
    const directory = new SessionDirectory({ store, bus, warn });
    const table = new SessionTable({ ids, dispatch, directory, maxSessions, idleMs: sessionIdleMs });
    const parts = { dispatch, inFlight, log, store, directory, table, server, askMs, leaseMs, warn };
    const calls = new SessionCalls(parts);
    const onOpen = ({ tag }: LiveSession): void =>
      void directory.topic.publish({ do: 'listen', session: tag });
    const listen = getStreams({ streams, log, retryMs, onOpen });
    const warnings = sessionWarnings({ isShared: directory.isShared, originOf: ids.originOf, warn });
    const onUnknown = warnings.unknownConnection;
    let httpSse: Promise<HttpSse> | undefined;

    // Few clients still speak it, so that it is loaded for the first of them.
    function loadHttpSse(): Promise<HttpSse> {
      httpSse ??= import('./http-sse.js').then((loaded) =>
        loaded.httpSse({ dispatch, streams, read, maxConnections: maxSessions, onUnknown }),
      );
      return httpSse;
    }

    async function post(
      incoming: Incoming,
      body: Message | readonly unknown[],
      headers: HeaderFields,
    ): Promise<void> {
      if (isBatch(body)) return postBatch(incoming, body, headers);
      if (body.kind === 'request' && body.method === 'initialize') return initialize(incoming, body, headers);
      // Some hosts drop the id of their session. A notification changes nothing then.
      if (body.kind === 'notification' && incoming.header(SESSION) === undefined)
        return incoming.reply(202, headers);
      const live = await find(incoming, headers, body);
      if (live === undefined) return;
      if (body.kind === 'request') {
        const reply = replyFor(incoming, live, headers, [body]);
        const respond: Respond = (text, challenged) => reply.finish(text, challenged);
        await calls.serve(live, { message: body, incoming, reply, respond, isBatch: false });
        if (live.id === '') table.forget(live);
        return;
      }
      if (!(await receive(live, body, incoming)))
        return refuse(incoming, 400, warnings.unknownAnswer(), headers);
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
        if (failure.challenge !== undefined)
          return replyWithError(incoming, failure, { headers, id: message.id, revision: newestSession });
        replyJson(incoming, 200, printError(message.id, failure.toWire(newestSession)), headers);
      }
    }

    /** The session of a request. If there is none, replies with the reason. */
    async function find(
      incoming: Incoming,
      headers: HeaderFields,
      message?: Message,
    ): Promise<LiveSession | undefined> {
      calls.start();
      const sessionId = incoming.header(SESSION);
      if (sessionId === undefined && message?.kind === 'request' && !CHANGES_SESSION.test(message.method)) {
        const protocolVersion = incoming.header('mcp-protocol-version') ?? assumedSession;
        return table.alone(readHandshake({ protocolVersion }), principalOf(incoming));
      }
      // A stream without its subscriptions would miss changes.
      const needsFacts = incoming.method === 'GET';
      const live =
        sessionId === undefined
          ? undefined
          : await table.find(sessionId, principalOf(incoming), { needsFacts });
      if (live !== undefined) return live;
      if (sessionId !== undefined) await warnings.unknownSession(sessionId, principalOf(incoming));
      const text =
        sessionId === undefined
          ? 'There is no session. Send "initialize" first, or put the protocol version into params._meta.'
          : 'The session is unknown. Send "initialize" again.';
      const status = sessionId === undefined ? 400 : 404;
      const id = message?.kind === 'request' ? message.id : undefined;
      replyJson(incoming, status, printError(id, { code: -32600, message: text }), headers);
      return undefined;
    }

    function replyFor(
      incoming: Incoming,
      live: LiveSession,
      headers: HeaderFields,
      requests: readonly RequestMessage[],
      isBatch = false,
    ): SessionReply {
      const ids = requests.map(({ id }) => id);
      const onLost = (): void => {
        for (const id of ids)
          live.calls.get(id)?.end(new McpError('connection_closed', 'The client went away'));
      };
      const record = (stream: ResumableStream): Promise<CallRecord | undefined> | undefined =>
        calls.record(live, stream, { ids, isBatch, ...repeatable(live, requests, incoming) });
      return new SessionReply(incoming, {
        ...{ live, streams, log, retryMs, headers, ids, onLost, record },
        hasHeartbeat: requests.some(({ method }) => hasHeartbeat(method)),
      });
    }

    /** Handles a notification or a response. False for the answer to a question that nobody asked. */
    async function receive(
      live: LiveSession,
      message: Exclude<Message, RequestMessage>,
      incoming: Incoming,
    ): Promise<boolean> {
      if (message.kind !== 'notification') return calls.receive(live, message, incoming);
      const { method, params } = message;
      if (method === 'notifications/cancelled')
        await calls
          .cancel(live, params?.['requestId'] as RequestId, params?.['reason'])
          .catch(overloaded('The call could not be cancelled. Cancel it again later.'));
      return true;
    }

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
      const reply = replyFor(incoming, live, headers, requests, true);
      const invalid = messages.filter((message) => message.kind === 'invalid');
      if (requests.length + invalid.length === 0) incoming.reply(202, headers);
      const collect = collector(requests.length + invalid.length, (text) => reply.finish(text));
      for (const { id, reason } of invalid) collect(printError(id, { code: -32600, message: reason }));
      for (const message of messages) {
        if (message.kind === 'request' || message.kind === 'invalid') continue;
        if (!(await receive(live, message, incoming))) warnings.unknownAnswer();
      }
      await Promise.all(
        requests.map((message) =>
          calls.serve(live, { message, incoming, reply, respond: collect, isBatch: true }),
        ),
      );
    }

    async function other(
      incoming: Incoming,
      route: 'mcp' | 'sse' | 'messages',
      headers: HeaderFields,
    ): Promise<void> {
      if (route !== 'mcp') return (await loadHttpSse()).handle(incoming, route, headers);
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
        await calls.withdrawAll(live).catch(overloaded('The session could not be ended. Send DELETE again.'));
        await table.end(live);
        // Another process may have asked since. From now on, it knows that the session has ended.
        await calls.withdrawAll(live).catch(ignore);
        return incoming.reply(200, headers);
      }
      return listen(incoming, live, headers);
    }

    return {
      post,
      other,
      async close(deadline) {
        const ending = calls.close(table.sessions());
        table.close();
        // A log that does not take the end of a call must not delay the shutdown for as long as it is tried.
        const isEnded = settlesWithin(ending, Math.max(MIN_CLOSE_MS, deadline.deadlineMs));
        await Promise.all([isEnded, httpSse?.then((sse) => sse.close(deadline))]);
        if (await isEnded) await ending;
      },
    };
  };
}

function ignore(): void {
  // A handshake has no notifications, and the questions of an ended session expire.
}

/** Turns an error of the store into one that says what to do. */
function overloaded(message: string): (cause: unknown) => never {
  return (cause) => {
    throw McpError.is(cause) ? cause : new McpError('overloaded', message, { cause });
  };
}

function isBatch(body: Message | readonly unknown[]): body is readonly unknown[] {
  return Array.isArray(body);
}

// Waiting for the result of a task can begin anew, in any process.
function repeatable(
  { session }: LiveSession,
  [message, ...others]: readonly RequestMessage[],
  { auth }: Incoming,
): Pick<StreamingCall, 'again'> | undefined {
  if (message?.method !== 'tasks/result' || others.length > 0) return undefined;
  const { id, method, params } = message;
  const { handshake } = session;
  return { again: { request: { id, method, params }, handshake, auth: auth && storableAuth(auth) } };
}
