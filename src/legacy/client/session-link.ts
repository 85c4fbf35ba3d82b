import { unlessAborted } from '../../async/abort.js';
import { withDeadline } from '../../async/deadline.js';
import type { JsonObject } from '../../jsonrpc/message.js';
import type { Call, Outcome, TransportName } from '../../protocol/call.js';
import { shorten } from '../../protocol/encoding/shorten.js';
import { McpError, userRejected } from '../../protocol/errors.js';
import type { Link, LinkEvents, OpenOptions } from '../../protocol/link.js';
import { isRejectedSampling } from '../../protocol/model/input.js';
import { notFound } from '../../protocol/not-found.js';
import { newestSession } from '../../protocol/tables/features.js';
import { knows } from '../../protocol/tables/methods.js';
import type { Revision } from '../../protocol/tables/revisions.js';
import type { Exchange, ExchangeEvents } from '../../transports/client/exchange.js';
import { emptyList, modernNotification, modernOutcome } from '../shapes/to-modern.js';
import { handshake, isErrorResponse } from './handshake.js';
import { RenewedSession, type Send } from './renewed-session.js';
import { SessionListening } from './session-listening.js';
import { SessionLogLevel } from './session-log-level.js';
import { type Forward, SessionTasks } from './session-tasks.js';
import { UrlElicitations } from './url-elicitation.js';

// The link to a server of the session era: calls of the newest revision become requests of a session.

export interface SessionLinkParts {
  readonly events: LinkEvents;
  readonly open: OpenOptions;
  readonly transport: TransportName;
  /** The revision to ask for. Default: the newest of the session era. */
  readonly revision?: Revision;
}

/** The time in which the server must answer the link's own requests. */
const OWN_REQUEST_MS = 10_000;

/**
 * A link whose calls are those of the newest revision, over a session of 2025-11-25 or older. If the link cannot be opened,
 * the exchange is closed.
 */
export async function openSessionLink(exchange: Exchange, parts: SessionLinkParts): Promise<Link> {
  const { events, open, transport, revision = newestSession } = parts;
  let closeReason: McpError | undefined;
  let isOpen = false;
  const listening = new SessionListening(send, events.problem);
  const logLevel = new SessionLogLevel(send, events.problem);
  const urlElicitations = new UrlElicitations();

  exchange.listen({
    request: answerWith(events),
    notification: onNotification,
    problem: events.problem,
    missed: () => listening.missed(),
    closed(reason) {
      closeReason = reason;
      listening.close(reason);
      if (isOpen) events.lost(reason);
    },
  });
  const session = await openSession();
  // The connection may have been lost before the link was open. Then `events.lost` was not called.
  if (closeReason !== undefined) {
    await exchange.close();
    throw closeReason;
  }
  const tasks = new SessionTasks(forward, (method, params, signal) =>
    session.request({ method, params, signal, onNotification }),
  );
  isOpen = true;

  async function openSession(): Promise<RenewedSession> {
    try {
      const first = await handshake(exchange, { ...open, revision });
      return new RenewedSession(exchange, first, {
        open: (signal) => handshake(exchange, { ...open, signal, revision: first.revision }),
        restore: async (sendRaw) =>
          void (await Promise.all([listening.restore(sendRaw), logLevel.restore(sendRaw)])),
      });
    } catch (error) {
      await exchange.close();
      throw error;
    }
  }

  function send(method: string, params: JsonObject): ReturnType<Send> {
    const reason = (): McpError =>
      new McpError('timeout', `The server did not answer ${method} within ${OWN_REQUEST_MS / 1000} seconds`);
    return withDeadline({ ms: OWN_REQUEST_MS, reason }, (signal) =>
      session.request({ method, params, signal, onNotification }),
    );
  }

  function onNotification(method: string, params: JsonObject | undefined): void {
    const modern = modernNotification(method, params);
    events.notification(...modern);
    listening.onNotification(...modern);
    urlElicitations.onNotification(...modern);
  }

  async function forward(
    call: Call,
    method: string = call.method,
    params: JsonObject = call.params,
  ): ReturnType<Forward> {
    const { signal, peer, notify, release } = call;
    if (session.handshake.discovered.capabilities.logging !== undefined) {
      const levelSet = logLevel.apply(peer.logLevel);
      if (levelSet !== undefined) await unlessAborted(levelSet, signal);
    }
    return session.request({
      method,
      params,
      signal,
      onNotification: (name, values) =>
        isOfSession(name) ? onNotification(name, values) : notify(name, values),
      onRelease: release,
    });
  }

  async function discover(call: Call): Promise<Outcome> {
    try {
      await forward(call, 'ping', {});
    } catch (error) {
      // A server that answers a ping with an error is alive.
      if (!isErrorResponse(error)) throw error;
    }
    return { ...session.handshake.discovered, resultType: 'complete' };
  }

  async function forwardPlain(call: Call): Promise<Outcome> {
    const { method } = call;
    const empty = emptyList(method, session.handshake.discovered.capabilities);
    if (empty !== undefined) return empty;
    if (!knows(session.handshake.revision, method) || method === 'initialize')
      throw unknownMethod(method, session.handshake.revision);
    const result = await forward(call);
    if (method === 'tools/list') tasks.learnTools(result);
    return modernOutcome(method, result);
  }

  async function dispatch(call: Call): Promise<Outcome> {
    const { method, params } = call;
    if (method.startsWith('notifications/')) {
      exchange.notify(method, Object.keys(params).length > 0 ? params : undefined);
      return { resultType: 'complete' };
    }
    switch (method) {
      case 'server/discover':
        return discover(call);
      case 'subscriptions/listen':
        return listening.listen(call, session.handshake);
      case 'tools/call':
        return urlElicitations.handle(call, (attempt) => tasks.callTool(attempt, session.handshake));
      case 'prompts/get':
      case 'resources/read':
        return urlElicitations.handle(call, forwardPlain);
      case 'tasks/get':
        return session.handshake.tasks ? tasks.get(call) : forwardPlain(call);
      case 'tasks/cancel':
        return session.handshake.tasks ? tasks.cancel(call) : forwardPlain(call);
      default:
        return forwardPlain(call);
    }
  }

  return {
    dispatch,
    transport,
    reportsChanges: true,
    filtersSubscriptions: true,
    expectsRootChanges: true,
    get revision() {
      return session.handshake.revision;
    },
    get discovered() {
      return session.handshake.discovered;
    },
    get sessionId() {
      return exchange.sessionId?.();
    },
    close() {
      listening.close(new McpError('connection_closed', 'The connection was closed'));
      return exchange.close();
    },
  };
}

/** Answers the requests of a server of the session era. */
export function answerWith({ ask }: LinkEvents): ExchangeEvents['request'] {
  return async function answer(method, params, signal) {
    switch (method) {
      case 'ping':
        return {};
      case 'elicitation/create':
      case 'sampling/createMessage':
      case 'roots/list':
        return accepted(await ask(params === undefined ? { method } : { method, params }, signal));
      default:
        throw notFound('method', method);
    }
  };
}

// The answer may be that of a client behind this one.
function accepted(answer: JsonObject): JsonObject {
  if (isRejectedSampling(answer)) throw userRejected();
  return answer;
}

// Notifications that belong to the session, even if the server sends them on the stream of a request.
function isOfSession(method: string): boolean {
  return (
    method.endsWith('/list_changed') ||
    method === 'notifications/resources/updated' ||
    method === 'notifications/tasks/status' ||
    method === 'notifications/elicitation/complete'
  );
}

function unknownMethod(method: string, revision: Revision): McpError {
  return method === 'tasks/update'
    ? new McpError(
        'method_not_found',
        `In revision ${revision}, a task asks with requests that the client's handlers answer. There is no tasks/update.`,
      )
    : new McpError(
        'method_not_found',
        `The server speaks revision ${revision}, which does not have the method ${shorten(method, 128)}.`,
      );
}
