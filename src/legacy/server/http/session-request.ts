import { Lifetime, withSignal } from '../../../async/lifetime.js';
import { printError, printNotification, printResult, type RequestMessage } from '../../../jsonrpc/message.js';
import type { Call, Dispatch } from '../../../protocol/call.js';
import { McpError, toMcpError } from '../../../protocol/errors.js';
import type { InFlight } from '../../../transports/http/server/in-flight.js';
import { callerOf, type Incoming } from '../../../transports/http/server/incoming.js';
import type { SessionRequest } from '../forward.js';
import type { SessionReply } from './session-reply.js';
import type { LiveSession } from './session-table.js';

// Serves the requests of a session that arrive by POST.

/** The HTTP request that carries a session's request, and the way to send the response. */
export interface ReplyPath {
  readonly incoming: Incoming;
  readonly reply: SessionReply;
  readonly respond: (text: string) => void;
}

export interface SessionRequestParts {
  readonly dispatch: Dispatch;
  readonly inFlight: InFlight;
}

// Calls of a session outlive their connections, so a limit on connections does not limit them.
const MAX_OPEN_CALLS = 1000;

/** Serves one request of a session; never rejects. */
export function sessionRequests({
  dispatch,
  inFlight,
}: SessionRequestParts): (live: LiveSession, message: RequestMessage, path: ReplyPath) => Promise<void> {
  return async function serve(live, message, { incoming, reply, respond }) {
    const { session, calls } = live;
    const { id } = message;
    // A call that was ended has its response before its handler returns.
    let isFinished = false;
    const finish = (text: string): void => {
      if (!isFinished) respond(text);
      isFinished = true;
    };
    const fail = (error: unknown): void => finish(printError(id, toMcpError(error).toWire(session.revision)));
    if (calls.has(id))
      return fail(new McpError('invalid_request', 'A request with this id is already open. Use another id.'));
    if (calls.size >= MAX_OPEN_CALLS)
      return fail(new McpError('overloaded', `A session can have at most ${MAX_OPEN_CALLS} open calls.`));
    const lifetime = new Lifetime();
    calls.set(id, lifetime);
    const leave = inFlight.enter({
      isSubscription: false,
      end(reason) {
        lifetime.end(reason);
        fail(reason);
      },
    });
    const { auth, http } = callerOf(incoming);
    const toReply: Call['notify'] = (method, params) => reply.notify(printNotification(method, params));
    const release = reply.canRelease ? () => reply.release() : undefined;
    const forward: SessionRequest['forward'] = (peer, params, beside) => {
      const { method = message.method, notify = toReply } = beside ?? {};
      const call = { id, method, params, peer, auth, http, notify, release };
      return dispatch(withSignal(call, beside?.lifetime ?? lifetime));
    };
    const send = (text: string): void => {
      if (reply.mayStream) return reply.notify(text);
      throw new McpError(
        'invalid_request',
        'The client cannot be asked: its request does not accept text/event-stream.',
      );
    };
    try {
      const channel = (): ReturnType<SessionRequest['channel']> => ({ send, signal: lifetime.signal });
      finish(printResult(id, await session.respond(message, { forward, channel })));
    } catch (error) {
      fail(error);
    } finally {
      const storing = reply.stored();
      // A shutdown must not lose the response of a client that is away. A reply without a stream does not wait.
      if (storing !== undefined) await storing;
      leave();
      calls.delete(id);
      live.usedAt = Date.now();
    }
  };
}
