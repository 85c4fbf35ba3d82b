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
import type { OpenCalls } from '../../transports/server/open-calls.js';
import { ClientRequests } from './client-requests.js';
import type { SessionRequest } from './forward.js';
import { readHandshake, Session } from './session.js';

const MAX_BATCH = 100;

type Reply = (text: string | undefined) => void;

/** The session era on a connection of its own: a pipe, a WebSocket, or the oldest HTTP transport. */
export function channelSession(
  dispatch: Dispatch,
  send: (text: string) => void,
): (calls: OpenCalls) => ChannelSession {
  return function channelSession(calls) {
    // Of the connection and not of the session: what was asked before another `initialize` is answered after it.
    const clientRequests = new ClientRequests();
    let session: Session | undefined;
    let attached = false;

    function receive(message: Message, reply?: Reply): void {
      if (message.kind === 'request') return request(message, reply);
      if (message.kind === 'notification') {
        if (message.method === 'notifications/initialized') attach();
      } else clientRequests.receive(message);
    }

    function request(message: RequestMessage, reply: Reply | undefined): void {
      const current = session;
      const options = { revision: current?.revision, sendResponse: reply };
      if (message.method === 'initialize')
        return calls.respond(message, async (open) => initialize(message, open.call), options);
      if (current === undefined) return calls.respond(message, () => beforeHandshake(message), options);
      attach();
      calls.respond(
        message,
        (open) => current.respond(message, { forward: open.call, channel: open.channel }),
        options,
      );
    }

    // A bridge that shares one pipe among clients sends `initialize` again for each of them. The session is there at once,
    // for the requests that come in the same write.
    function initialize(message: RequestMessage, forward: SessionRequest['forward']): Promise<string> {
      const next = new Session(readHandshake(message.params), dispatch, clientRequests);
      session?.detach();
      session = next;
      attached = false;
      return next.initialize(forward);
    }

    function attach(): void {
      if (attached || session === undefined) return;
      attached = true;
      session.attach({
        notify: (method, params) => send(printNotification(method, params)),
        caller: calls.caller,
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

async function beforeHandshake({ method }: RequestMessage): Promise<string> {
  if (method === 'ping') return '{}';
  throw new McpError(
    'invalid_request',
    'No session: send "initialize" first, or put the protocol version into params._meta',
  );
}

/** Reads a message of a batch. Spec 2025-03-26, Lifecycle: `initialize` MUST NOT be part of one. */
export function readInBatch(value: unknown): Message | InvalidMessage {
  const message = readMessage(value);
  return message.kind === 'request' && message.method === 'initialize'
    ? { kind: 'invalid', id: message.id, reason: '"initialize" cannot be part of a batch: send it alone' }
    : message;
}

export function batchProblem(values: readonly unknown[], session: Session | undefined): string | undefined {
  if (session === undefined || !has(session.revision, 'batching'))
    return 'Batches are not part of this protocol revision';
  if (values.length === 0 || values.length > MAX_BATCH) return `A batch has 1 to ${MAX_BATCH} messages`;
  return undefined;
}

/** Gathers the answers to a batch and hands them on as one. A call that was cancelled counts, but has none. */
export function collector(expected: number, send: (text: string) => void): Reply {
  const answers: string[] = [];
  let missing = expected;
  return function collect(text) {
    missing -= 1;
    if (text !== undefined) answers.push(text);
    if (missing === 0 && answers.length > 0) send(`[${answers.join(',')}]`);
  };
}
