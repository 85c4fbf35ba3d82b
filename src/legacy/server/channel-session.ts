import {
  INVALID_REQUEST,
  type InvalidMessage,
  type Message,
  printError,
  printNotification,
  type RequestMessage,
  readMessage,
} from '../../jsonrpc/message.js';
import type { Dispatch } from '../../protocol/call.js';
import { McpError } from '../../protocol/errors.js';
import { has } from '../../protocol/tables/features.js';
import type { ChannelSession } from '../../transports/server/channel.js';
import type { OpenCalls, OpenRequest, RespondOptions } from '../../transports/server/open-calls.js';
import { ClientRequests } from './client-requests.js';
import type { SessionRequest } from './forward.js';
import { readHandshake } from './handshake.js';
import { Session } from './session.js';

// Sessions on a channel, where all messages of a connection share one stream; and batches.

const MAX_BATCH = 100;

type Reply = (text: string | undefined) => void;

interface ChannelSessionOptions {
  /**
   * Whether several clients may share the connection, as they do behind a bridge to a pipe: it sends `initialize` for each of them.
   * Otherwise a second `initialize` is refused. Default: false.
   */
  readonly isBridged?: boolean;
}

/** Serves the session era on one connection: a pipe, a WebSocket, or HTTP+SSE. */
export function channelSession(
  dispatch: Dispatch,
  send: (text: string) => void,
  { isBridged = false }: ChannelSessionOptions = {},
): (calls: OpenCalls) => ChannelSession {
  return function channelSession(calls) {
    // These requests belong to the connection, not to the session: a question may be answered after another `initialize`.
    const clientRequests = new ClientRequests();
    let session: Session | undefined;
    let isAttached = false;

    function receive(message: Message, reply?: Reply): void {
      if (message.kind === 'request') return request(message, reply);
      if (message.kind === 'notification') {
        if (message.method === 'notifications/initialized') attach();
      } else clientRequests.receive(message);
    }

    function request(message: RequestMessage, reply: Reply | undefined): void {
      const current = session;
      const options: RespondOptions = { revision: current?.revision, sendResponse: reply };
      if (message.method === 'initialize')
        return calls.respond(message, async (open) => initialize(message, forwarder(open)), options);
      if (current === undefined) return calls.respond(message, () => beforeHandshake(message), options);
      attach();
      calls.respond(
        message,
        (open) => current.respond(message, { forward: forwarder(open), channel: () => open.channel() }),
        options,
      );
    }

    // The new session is set at once, because requests may follow in the same write.
    function initialize(message: RequestMessage, forward: SessionRequest['forward']): Promise<string> {
      if (session !== undefined && !isBridged)
        throw new McpError(
          'invalid_request',
          'This connection has a session already. Open another connection for another session.',
        );
      const next = new Session(readHandshake(message.params), dispatch, { clientRequests });
      session?.detach();
      session = next;
      isAttached = false;
      return next.initialize(forward);
    }

    function attach(): void {
      if (isAttached || session === undefined) return;
      isAttached = true;
      session.attach({
        notify: (method, params) => send(printNotification(method, params)),
        caller: calls.caller,
        via: calls.via,
      });
    }

    function receiveBatch(values: readonly unknown[]): void {
      const problem = batchProblem(values, session);
      if (problem !== undefined)
        return send(printError(undefined, { code: INVALID_REQUEST, message: problem }));
      const messages = values.map(readInBatch);
      const collect = collector(
        messages.filter(({ kind }) => kind === 'request' || kind === 'invalid').length,
        send,
      );
      for (const message of messages) {
        if (message.kind === 'invalid')
          collect(printError(message.id, { code: INVALID_REQUEST, message: message.reason }));
        else if (message.kind !== 'notification' || !calls.cancel(message)) receive(message, collect);
      }
    }

    function close(): void {
      session?.detach();
      clientRequests.close();
    }

    return { receive, receiveBatch, close };
  };
}

function forwarder(open: OpenRequest): SessionRequest['forward'] {
  return (peer, params, beside) => open.call(peer, params, beside);
}

async function beforeHandshake({ method }: RequestMessage): Promise<string> {
  if (method === 'ping') return '{}';
  throw new McpError(
    'invalid_request',
    'There is no session. Send "initialize" first, or put the protocol version into params._meta.',
  );
}

/** Reads a message of a batch. Spec 2025-03-26, Lifecycle: `initialize` MUST NOT be part of one. */
export function readInBatch(value: unknown): Message | InvalidMessage {
  const message = readMessage(value);
  return message.kind === 'request' && message.method === 'initialize'
    ? { kind: 'invalid', id: message.id, reason: '"initialize" must not be part of a batch. Send it alone.' }
    : message;
}

export function batchProblem(values: readonly unknown[], session: Session | undefined): string | undefined {
  if (session === undefined || !has(session.revision, 'batching'))
    return 'Batches are not part of this protocol revision. Send each message alone.';
  if (values.length === 0 || values.length > MAX_BATCH)
    return `A batch must have 1 to ${MAX_BATCH} messages.`;
  return undefined;
}

/** Collects the responses to a batch and sends them as one. A cancelled call has no response, but is counted. */
export function collector(expected: number, send: (text: string) => void): Reply {
  const responses: string[] = [];
  let missing = expected;
  return function collect(text) {
    missing -= 1;
    if (text !== undefined) responses.push(text);
    if (missing === 0 && responses.length > 0) send(`[${responses.join(',')}]`);
  };
}
