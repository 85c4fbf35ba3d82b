import { unlessAborted } from '../../async/abort.js';
import { withDeadline } from '../../async/deadline.js';
import type { JsonObject } from '../../jsonrpc/message.js';
import type { Call, Outcome } from '../../protocol/call.js';
import { McpError } from '../../protocol/errors.js';
import type { Link, LinkEvents, OpenOptions, TransportName } from '../../protocol/link.js';
import { newestSession } from '../../protocol/tables/features.js';
import { knows } from '../../protocol/tables/methods.js';
import type { Revision } from '../../protocol/tables/revisions.js';
import type { Exchange, ExchangeEvents } from '../../transports/client/exchange.js';
import { emptyList, modernNotification, modernOutcome } from '../shapes/to-modern.js';
import { isAnswer, shakeHands } from './handshake.js';
import { KeptSession, type Send } from './renewed-session.js';
import { SessionListening } from './session-listening.js';
import { SessionLogLevel } from './session-log-level.js';
import { type Forward, SessionTasks } from './session-tasks.js';
import { RequiredVisits } from './url-elicitation.js';

export interface SessionLinkParts {
  readonly events: LinkEvents;
  readonly open: OpenOptions;
  readonly transport: TransportName;
  /** The revision to ask for; the newest of the session era unless told. */
  readonly revision?: Revision;
}

/** How long the server may take to answer what the link asks on its own account. */
const OWN_REQUEST_MS = 10_000;

/**
 * A link whose calls are those of the newest revision, over a session of 2025-11-25 or older. Where it cannot be opened the
 * exchange is closed.
 */
export async function openSessionLink(exchange: Exchange, parts: SessionLinkParts): Promise<Link> {
  const { events, open, transport, revision = newestSession } = parts;
  let gone: McpError | undefined;
  let isOpen = false;
  const listening = new SessionListening(send, events.problem);
  const logLevel = new SessionLogLevel(send, events.problem);
  const visits = new RequiredVisits();

  exchange.hear({
    request: answering(events),
    notification: heard,
    problem: events.problem,
    missed: () => listening.missed(),
    closed(reason) {
      gone = reason;
      listening.close(reason);
      if (isOpen) events.lost(reason);
    },
  });
  const session = await openSession();
  // It may have gone since: nobody would be told.
  if (gone !== undefined) {
    await exchange.close();
    throw gone;
  }
  const tasks = new SessionTasks(forward, (method, params, signal) =>
    session.request({ method, params, signal, notified: heard }),
  );
  isOpen = true;

  async function openSession(): Promise<KeptSession> {
    try {
      const agreed = await shakeHands(exchange, { ...open, revision });
      return new KeptSession(exchange, agreed, {
        open: (signal) => shakeHands(exchange, { ...open, signal, revision: agreed.revision }),
        restore: async (raw) => void (await Promise.all([listening.restore(raw), logLevel.restore(raw)])),
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
      session.request({ method, params, signal, notified: heard }),
    );
  }

  function heard(method: string, params: JsonObject | undefined): void {
    const modern = modernNotification(method, params);
    events.notification(...modern);
    listening.heard(...modern);
    visits.heard(...modern);
  }

  async function forward(
    call: Call,
    method: string = call.method,
    params: JsonObject = call.params,
  ): ReturnType<Forward> {
    const { signal, peer, notify } = call;
    if (session.agreed.discovered.capabilities.logging !== undefined) {
      const told = logLevel.want(peer.logLevel);
      if (told !== undefined) await unlessAborted(told, signal);
    }
    return session.request({
      method,
      params,
      signal,
      notified: (name, given) => (isOfSession(name) ? heard(name, given) : notify(name, given)),
    });
  }

  async function discover(call: Call): Promise<Outcome> {
    try {
      await forward(call, 'ping', {});
    } catch (error) {
      // A server that refuses to be pinged is alive.
      if (!isAnswer(error)) throw error;
    }
    return { ...session.agreed.discovered, resultType: 'complete' };
  }

  async function plain(call: Call): Promise<Outcome> {
    const { method } = call;
    const empty = emptyList(method, session.agreed.discovered.capabilities);
    if (empty !== undefined) return empty;
    if (!knows(session.agreed.revision, method) || method === 'initialize')
      throw unknownMethod(method, session.agreed.revision);
    const result = await forward(call);
    if (method === 'tools/list') tasks.listed(result);
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
        return listening.listen(call, session.agreed);
      case 'tools/call':
        return visits.around(call, (again) => tasks.callTool(again, session.agreed));
      case 'prompts/get':
      case 'resources/read':
        return visits.around(call, plain);
      case 'tasks/get':
        return session.agreed.tasks ? tasks.get(call) : plain(call);
      case 'tasks/cancel':
        return session.agreed.tasks ? tasks.cancel(call) : plain(call);
      default:
        return plain(call);
    }
  }

  return {
    dispatch,
    transport,
    reportsChanges: true,
    filtersSubscriptions: true,
    expectsRootChanges: true,
    get revision() {
      return session.agreed.revision;
    },
    get discovered() {
      return session.agreed.discovered;
    },
    close() {
      listening.close(new McpError('connection_closed', 'The connection was closed'));
      return exchange.close();
    },
  };
}

// What servers of the session era ask with requests of their own.
function answering({ ask }: LinkEvents): ExchangeEvents['request'] {
  return async function answer(method, params, signal) {
    switch (method) {
      case 'ping':
        return {};
      case 'elicitation/create':
      case 'sampling/createMessage':
      case 'roots/list':
        return ask(params === undefined ? { method } : { method, params }, signal);
      default:
        throw new McpError('method_not_found', `Method not found: ${method.slice(0, 128)}`);
    }
  };
}

// A server may send on the stream of a request what belongs to none.
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
        `A task of ${revision} asks with requests of its own, which the client's handlers answer: there is nothing to update`,
      )
    : new McpError(
        'method_not_found',
        `Revision ${revision}, which this server speaks, has no ${method.slice(0, 128)}`,
      );
}
