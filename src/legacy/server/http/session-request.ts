import { type Lifetime, withSignal } from '../../../async/lifetime.js';
import { printError, printNotification, printResult, type RequestMessage } from '../../../jsonrpc/message.js';
import type { Call, Dispatch, Via } from '../../../protocol/call.js';
import type { Caller } from '../../../protocol/caller.js';
import { McpError, toMcpError } from '../../../protocol/errors.js';
import { staysOpen } from '../../../protocol/standing-calls.js';
import type { InFlight } from '../../../transports/http/server/in-flight.js';
import { ParkedCall, type ResumedRound, type SessionRequest } from '../forward.js';
import type { CallReply } from './session-reply.js';
import type { LiveSession } from './session-table.js';

// Serves the requests of a session that arrive by POST.

/** Sends the response to a request: its text and, if it is an error that HTTP has a challenge for, the error. */
export type Respond = (text: string, challenged?: McpError) => void;

/** The caller of a session's request, and the way to send the response. */
interface ReplyPath extends Pick<SessionRequest, 'park' | 'ask'> {
  readonly caller: Caller;
  readonly reply: CallReply;
  readonly respond: Respond;
  /** The answers, for a call that continues. */
  readonly resumed?: ResumedRound | undefined;
  /** Ends when the call does. */
  readonly lifetime: Lifetime;
  /** Called when the call has asked its client and waits. */
  readonly onParked: () => Promise<unknown>;
}

export interface SessionRequestParts {
  readonly dispatch: Dispatch;
  readonly inFlight: InFlight;
}

/** Serves one request of a session; never rejects. Resolves with false if the call waits for answers of its client. */
export type ServeRequest = (
  live: Pick<LiveSession, 'session' | 'calls' | 'usedAt' | 'isOver'> & { readonly via?: Via },
  message: RequestMessage,
  path: ReplyPath,
) => Promise<boolean>;

// Calls of a session outlive their connections, so a limit on connections does not limit them.
const MAX_OPEN_CALLS = 1000;

/** Makes the function that serves one request of a session. */
export function sessionRequests({ dispatch, inFlight }: SessionRequestParts): ServeRequest {
  return async function serve(
    live,
    message,
    { caller, reply, respond, lifetime, resumed, park, ask, onParked },
  ) {
    const { session, calls, via } = live;
    const { id } = message;
    // A call that was ended has its response before its handler returns.
    let isFinished = false;
    const finish: Respond = (text, challenged) => {
      if (!isFinished) respond(text, challenged);
      isFinished = true;
    };
    const fail = (error: unknown): void => {
      const failure = toMcpError(error);
      finish(printError(id, failure.toWire(session.revision)), failure.challenge && failure);
    };
    const refused = resumed === undefined ? refusal(live, message) : over(live);
    if (refused !== undefined) {
      fail(refused);
      return true;
    }
    calls.set(id, lifetime);
    const isSubscription = staysOpen(message.method);
    const leave = inFlight.enter({
      isSubscription,
      end(reason) {
        lifetime.end(reason);
        // A subscription ends with its result.
        if (!isSubscription) fail(reason);
      },
    });
    const { auth, http } = caller;
    const toReply: Call['notify'] = (method, params) => reply.notify(printNotification(method, params));
    const release = reply.canRelease ? () => reply.release() : undefined;
    const forward: SessionRequest['forward'] = (peer, params, beside) => {
      const { method = message.method, notify = toReply } = beside ?? {};
      const call = { id, method, params, peer, auth, http, via, notify, release };
      return dispatch(withSignal(call, beside?.lifetime ?? lifetime));
    };
    const channel = (): ReturnType<SessionRequest['channel']> => ({
      send: (text) => reply.notify(text),
      signal: lifetime.signal,
    });
    let isParked = false;
    try {
      const request = { forward, channel, resumed, park, ask };
      finish(printResult(id, await session.respond(message, request)));
    } catch (error) {
      isParked = error instanceof ParkedCall;
      if (!isParked) fail(error);
    } finally {
      const storing = reply.stored();
      // A shutdown must not lose the response of a client that is away. A reply without a stream does not wait.
      if (storing !== undefined) await storing;
      leave();
      if (calls.get(id) === lifetime) calls.delete(id);
      live.usedAt = performance.now();
    }
    if (isParked) await onParked();
    return !isParked;
  };
}

function refusal(live: Pick<LiveSession, 'calls' | 'isOver'>, { id }: RequestMessage): McpError | undefined {
  const { calls } = live;
  if (calls.has(id))
    return new McpError('invalid_request', 'A request with this id is already open. Use another id.');
  if (calls.size >= MAX_OPEN_CALLS)
    return new McpError('overloaded', `A session can have at most ${MAX_OPEN_CALLS} open calls.`);
  return over(live);
}

// The session may have ended since it was found, while an answer was being stored.
function over({ isOver }: Pick<LiveSession, 'isOver'>): McpError | undefined {
  return isOver ? new McpError('connection_closed', 'The session was ended.') : undefined;
}
