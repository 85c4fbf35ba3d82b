import {
  INVALID_REQUEST,
  type InvalidMessage,
  type Message,
  PARSE_ERROR,
  printError,
  type RequestId,
  readableId,
  readMessage,
} from '../../jsonrpc/message.js';
import { MAX_DEPTH, parseStrictly, RefusedJson } from '../../jsonrpc/parse.js';
import { type Dispatch, printOutcome } from '../../protocol/call.js';
import type { Caller } from '../../protocol/caller.js';
import { isModern } from '../../protocol/era.js';
import { McpError } from '../../protocol/errors.js';
import { readPeer } from '../../protocol/meta.js';
import { drain } from './drain.js';
import { type Input, Intake } from './intake.js';
import { OpenCalls } from './open-calls.js';

/** A message that another transport has parsed and checked, and the length of its text. */
export interface ParsedMessage {
  readonly value: unknown;
  readonly length: number;
}

/** Both directions of one connection that many calls share: a pipe, a WebSocket. */
export interface Channel {
  /** Receives one message, which may have to wait for those before it. */
  readonly receive: (message: string | ParsedMessage) => void;
  /** Looks again whether the peer reads: more lies unread than before, or less. */
  readonly look: () => void;
  /** How many calls are open. */
  readonly openCalls: () => number;
  /** Says that a message was refused before it could be read, and which one where its id is known. */
  readonly refuse: (reason: string, id?: RequestId) => void;
  /** Resolves when no call is open: everything that was received so far has been answered. */
  readonly settled: () => Promise<void>;
  /** Ends subscriptions, waits for calls until the deadline, then ends those too. Nothing is sent after it. */
  readonly close: (options: { readonly deadlineMs: number }) => Promise<void>;
  /** Ends every call at once: the peer is gone, so that nobody would read an answer. */
  readonly abandon: (reason: string) => Promise<void>;
}

/** Serves messages that are not modern: the session of this connection, if the session era is enabled. */
export interface ChannelSession {
  receive(message: Message): void;
  receiveBatch(values: readonly unknown[]): void;
  close(): void;
}

export interface ChannelOptions {
  readonly dispatch: Dispatch;
  readonly send: (text: string) => void;
  /** Sends a response. There are never more responses than open calls. Default: `send`. */
  readonly reply?: ((text: string) => void) | undefined;
  /** Stops reading while the peer does not read, or has too many calls open. Without it, calls beyond the limit are refused. */
  readonly input?: Input | undefined;
  /** Whether the peer leaves so much unread that nothing more should be made for it. */
  readonly outputFull?: (() => boolean) | undefined;
  /** How many calls may be open at the same time. Default: 1,000. */
  readonly maxOpenCalls?: number | undefined;
  readonly session?: ((calls: OpenCalls) => ChannelSession) | undefined;
  /** The caller that opened the connection, if it began as an HTTP request. */
  readonly caller?: Caller | undefined;
}

export function openChannel(options: ChannelOptions): Channel {
  const { dispatch, send, reply = send, session, input, outputFull = never } = options;
  const calls = new OpenCalls(dispatch, {
    ...options,
    reply,
    onFreed: () => intake.freed(),
  });
  const intake = new Intake({ input, handle: receive, outputFull, callsFull: () => calls.full });
  const sessionEra = session?.(calls);

  function receive(message: string | ParsedMessage): void {
    calls.arriving = message.length;
    if (typeof message !== 'string') return receiveValue(message.value);
    const value = parseStrictly(message, MAX_DEPTH);
    if (value instanceof RefusedJson) refuseJson(value);
    else receiveValue(value);
  }

  function refuseJson({ fault, value }: RefusedJson): void {
    if (fault === 'syntax')
      return reply(printError(undefined, { code: PARSE_ERROR, message: 'This is not valid JSON' }));
    const reason =
      fault === 'deep'
        ? `Nested deeper than ${MAX_DEPTH} levels`
        : 'A number in the message is too large for a double';
    refuse(reason, readableId(value));
  }

  function receiveValue(value: unknown): void {
    if (Array.isArray(value)) {
      if (sessionEra !== undefined) return sessionEra.receiveBatch(value);
      return refuse('Batches are not part of this protocol revision');
    }
    const message = readMessage(value);
    if (message.kind === 'invalid') return refuseMessage(message);
    if (isModern(message)) return receiveModern(message);
    // A cancellation says nothing of its era, and ids are unique on a connection.
    if (message.kind === 'notification' && calls.cancel(message)) return;
    if (sessionEra !== undefined) return sessionEra.receive(message);
    if (message.kind === 'request') receiveModern(message);
  }

  function receiveModern(message: Message): void {
    if (message.kind === 'notification') calls.cancel(message);
    else if (message.kind === 'request') {
      calls.respond(message, async (open) => printOutcome(await open.call(readPeer(message.params))));
    }
  }

  function refuse(reason: string, id?: RequestId): void {
    reply(printError(id, { code: INVALID_REQUEST, message: reason }));
  }

  function refuseMessage({ id, reason }: InvalidMessage): void {
    reply(printError(id, { code: INVALID_REQUEST, message: `Invalid message: ${reason}` }));
  }

  return {
    receive: (message) => intake.take(message),
    refuse(reason, id) {
      refuse(reason, id);
      intake.look();
    },
    settled: () => calls.settled(),
    look: () => intake.look(),
    openCalls: () => calls.size,
    async close({ deadlineMs }) {
      const drained = drain(calls, deadlineMs);
      sessionEra?.close();
      await drained;
      intake.stop();
    },
    async abandon(reason) {
      intake.stop();
      // Before the session ends: a call whose question fails with it would end as if it had been answered.
      const ended = calls.endAll(new McpError('connection_closed', reason));
      sessionEra?.close();
      await ended;
    },
  };
}

function never(): boolean {
  return false;
}
