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
import type { Dispatch, TransportName } from '../../protocol/call.js';
import type { Caller } from '../../protocol/caller.js';
import { isModern } from '../../protocol/era.js';
import { McpError } from '../../protocol/errors.js';
import { SessionVia } from '../../protocol/telemetry/session-via.js';
import { drain } from './drain.js';
import { type Input, Intake } from './intake.js';
import { OpenCalls } from './open-calls.js';

/** A message that another transport has parsed and checked, and the length of its text. */
export interface ParsedMessage {
  readonly value: unknown;
  readonly length: number;
  /** The caller of this message. Default: the one that opened the connection. */
  readonly caller?: Caller | undefined;
}

/** The server's end of a connection that many calls share: a pipe, a WebSocket, HTTP+SSE. */
export interface Channel {
  /** Receives one message, which may have to wait for those before it. */
  readonly receive: (message: string | ParsedMessage) => void;
  /** Checks again whether the peer reads: the amount of unread output has changed. */
  readonly recheck: () => void;
  readonly openCalls: () => number;
  /** Rejects a message that was not read, under the message's id if that is known. */
  readonly refuse: (reason: string, id?: RequestId) => void;
  /** Resolves when no call is open: every message so far has its response. */
  readonly settled: () => Promise<void>;
  /** Ends subscriptions, waits for calls until the deadline, and ends the rest. Nothing is sent afterwards. */
  readonly close: (options: { readonly deadlineMs: number }) => Promise<void>;
  /** Ends every call at once, without a response: the peer is gone. */
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
  /** Sends a response. Each call has one, so responses are limited with the calls. Default: `send`. */
  readonly sendResponse?: ((text: string) => void) | undefined;
  /** Pauses while the peer does not read, or has too many calls open. Without it, calls beyond the limit are rejected. */
  readonly input?: Input | undefined;
  /** Whether the peer leaves so much unread that no further message should be handled. */
  readonly outputFull?: (() => boolean) | undefined;
  /** The number of calls that may be open at the same time. Default: 1,000. */
  readonly maxOpenCalls?: number | undefined;
  readonly session?: ((calls: OpenCalls) => ChannelSession) | undefined;
  /** Default: `channel`. */
  readonly transport?: TransportName | undefined;
  /** The part of the client's program that has opened the connection, if the client says it. */
  readonly entryPoint?: string | undefined;
  /** The caller that opened the connection. Default: an anonymous one. */
  readonly caller?: Caller | undefined;
}

/** Opens a channel: messages go in through `receive`, responses and notifications come out through `send`. */
export function openChannel(options: ChannelOptions): Channel {
  const { dispatch, send, sendResponse = send, session, input, outputFull = never } = options;
  const via = new SessionVia(options.transport ?? 'channel', options);
  const calls = new OpenCalls(dispatch, {
    ...options,
    via,
    sendResponse,
    onCallEnded: () => intake.onCallEnded(),
  });
  const intake = new Intake({ input, handle: receive, outputFull, callsFull: () => calls.isFull });
  const sessionEra = session?.(calls);

  function receive(message: string | ParsedMessage): void {
    calls.messageLength = message.length;
    calls.messageCaller = typeof message === 'string' ? undefined : message.caller;
    if (typeof message !== 'string') return receiveValue(message.value);
    const value = parseStrictly(message, MAX_DEPTH);
    if (value instanceof RefusedJson) refuseJson(value);
    else receiveValue(value);
  }

  function refuseJson({ fault, value }: RefusedJson): void {
    if (fault === 'syntax')
      return sendResponse(printError(undefined, { code: PARSE_ERROR, message: 'This is not valid JSON' }));
    const reason =
      fault === 'deep'
        ? `The message is nested deeper than ${MAX_DEPTH} levels`
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
    // A cancellation does not show its era, and ids are unique on a connection.
    if (message.kind === 'notification' && calls.cancel(message)) return;
    if (sessionEra !== undefined) return sessionEra.receive(message);
    if (message.kind === 'request') receiveModern(message);
  }

  function receiveModern(message: Message): void {
    if (message.kind === 'notification') calls.cancel(message);
    else if (message.kind === 'request') calls.respondModern(message);
  }

  function refuse(reason: string, id?: RequestId): void {
    sendResponse(printError(id, { code: INVALID_REQUEST, message: reason }));
  }

  function refuseMessage({ id, reason }: InvalidMessage): void {
    sendResponse(printError(id, { code: INVALID_REQUEST, message: `Invalid message: ${reason}` }));
  }

  return {
    receive: (message) => intake.receive(message),
    refuse(reason, id) {
      refuse(reason, id);
      intake.recheck();
    },
    settled: () => calls.settled(),
    recheck: () => intake.recheck(),
    openCalls: () => calls.size,
    async close({ deadlineMs }) {
      const draining = drain(calls, deadlineMs);
      sessionEra?.close();
      await draining;
      intake.stop();
      via.end();
    },
    async abandon(reason) {
      intake.stop();
      // Before the session ends: its end fails open questions, and their calls would send responses.
      const ending = calls.endAll(new McpError('connection_closed', reason));
      sessionEra?.close();
      await ending;
      via.end();
    },
  };
}

function never(): boolean {
  return false;
}
