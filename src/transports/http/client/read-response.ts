import { EventStreamReader, EventTooLarge } from '../../../jsonrpc/event-stream.js';
import { type JsonObject, type Message, type RequestId, readMessage } from '../../../jsonrpc/message.js';
import { MAX_HTTP_REPLY_DEPTH, parseJson, RefusedJson } from '../../../jsonrpc/parse.js';
import { shorten } from '../../../protocol/encoding/shorten.js';
import { cancelledBy, McpError } from '../../../protocol/errors.js';
import type { HttpReply } from './carrier.js';
import { describeBody, incomplete, peerError, refusal } from './failures.js';
import { isOk, mediaType } from './read-body.js';
import type { RequestScope } from './request-scopes.js';
import type { HttpTarget } from './target.js';

export type JsonRpcResponse = Extract<Message, { kind: 'result' | 'error' }>;
type PeerMessage = Exclude<Message, JsonRpcResponse>;
type Problem = (message: string, cause?: unknown) => void;

/** Receives a response, and the messages that come before it. */
export interface ResponseListener {
  /** Undefined if only messages that the peer initiates are expected. */
  readonly id: RequestId | undefined;
  readonly onMessage: (message: PeerMessage) => void;
  readonly problem: Problem;
}

/** The time for a stream to end after its response, so that its connection can be reused. */
const DRAIN_MS = 250;

/** Reads the response to a POST: one body, or a stream. */
export async function readResponse(
  reply: HttpReply,
  { target, listener, scope }: { target: HttpTarget; listener: ResponseListener; scope: RequestScope },
): Promise<JsonObject> {
  if (!isOk(reply)) throw await refusal(reply, target);
  const response = isEventStream(reply)
    ? await readStream(reply, {
        reader: new EventStreamReader({ maxBytes: target.maxBytes }),
        take: responseReader(listener),
        scope,
      }).catch((error: unknown) => {
        throw McpError.is(error) ? error : incomplete(target.displayUrl, error);
      })
    : await readBody(reply, target, listener);
  if (response === undefined) throw incomplete(target.displayUrl);
  return resultOf(response, reply.status);
}

export function resultOf(response: JsonRpcResponse, status: number): JsonObject {
  if (response.kind === 'error') throw peerError(response.error, status);
  return response.result;
}

export function isEventStream(reply: HttpReply): boolean {
  return mediaType(reply) === 'text/event-stream';
}

async function readBody(
  reply: HttpReply,
  { displayUrl, maxBytes, conceal }: HttpTarget,
  listener: ResponseListener,
): Promise<JsonRpcResponse> {
  const { status } = reply;
  const text = await reply.text(maxBytes).catch((error: unknown) => {
    throw incomplete(displayUrl, error);
  });
  if (text === undefined) throw tooLarge(maxBytes);
  const badReply = (what: string, cause?: unknown): McpError =>
    new McpError('bad_response', `${displayUrl} answered ${what}. Is this the address of an MCP server?`, {
      status,
      cause,
      data: { status },
    });
  if (text.trim() === '') throw badReply(`${status} with an empty body`);
  const value = parseJson(text, MAX_HTTP_REPLY_DEPTH);
  if (value instanceof RefusedJson) {
    // The body is complete: an error that says otherwise would be retried.
    if (value.fault === 'deep')
      throw badReply(`with JSON that nests deeper than ${MAX_HTTP_REPLY_DEPTH} levels`);
    const what = conceal(describeBody(reply, text));
    throw badReply(
      what.startsWith('a web page') ? `with ${what} instead of MCP` : 'with something other than JSON',
      value.cause,
    );
  }
  let why: string | undefined;
  const problem: Problem = (message) => {
    why ??= message;
  };
  const response = pick(value, { ...listener, problem });
  if (response === undefined)
    throw badReply(`with JSON that does not answer the request${why ? `. ${why.slice(0, -1)}` : ''}`);
  if (why !== undefined) listener.problem(why);
  return response;
}

/** Makes a function that finds the response among the events of a stream; other messages are delivered or reported. */
export function responseReader(listener: ResponseListener): StreamReading<JsonRpcResponse>['take'] {
  return function readEvent(data, event) {
    if (event !== 'message') return undefined;
    const value = parseJson(data, MAX_HTTP_REPLY_DEPTH);
    if (!(value instanceof RefusedJson)) return pick(value, listener);
    listener.problem(
      value.fault === 'deep'
        ? `A message that nests deeper than ${MAX_HTTP_REPLY_DEPTH} levels was skipped.`
        : 'An event that is not JSON was skipped.',
      value.cause,
    );
    return undefined;
  };
}

function pick(value: unknown, { id, onMessage, problem }: ResponseListener): JsonRpcResponse | undefined {
  // 2025-03-26 has batches.
  for (const item of Array.isArray(value) ? value : [value]) {
    const message = readMessage(item);
    if (message.kind === 'invalid') problem(`An invalid message was skipped: ${message.reason}.`);
    else if (message.kind === 'request' || message.kind === 'notification') onMessage(message);
    // An error without an id can only belong to this request.
    else if (id !== undefined && isSame(message.id ?? id, id)) return message;
    else problem(`A response with the id ${shorten(message.id, 64)} was skipped: no request has this id.`);
  }
  return undefined;
}

// The ids are integers. Some peers return one as a string.
function isSame(received: RequestId, id: RequestId): boolean {
  return received === id || received === String(id);
}

interface StreamReading<T> {
  readonly reader: EventStreamReader;
  /** Handles the data of an event. A result other than `undefined` ends the reading. */
  readonly take: (data: string, event: string) => T | undefined;
  readonly scope: RequestScope;
}

/** Reads a stream until `take` returns a result. Rejects with the failure of the stream, or an `McpError`. */
export async function readStream<T>(
  reply: HttpReply,
  { reader, take, scope }: StreamReading<T>,
): Promise<T | undefined> {
  try {
    for (;;) {
      const chunk = await reply.read();
      if (chunk === undefined) return undefined;
      let match: T | undefined;
      for (const { event, data } of reader.push(chunk)) {
        if (match === undefined && data !== '') match = take(data, event);
      }
      if (match === undefined) continue;
      scope.extend(drain(reply));
      return match;
    }
  } catch (error) {
    reply.cancel();
    if (scope.ended) throw cancelledBy(scope.signal.reason);
    throw error instanceof EventTooLarge ? tooLarge(error.maxBytes) : error;
  }
}

async function drain(reply: HttpReply): Promise<void> {
  const timer = setTimeout(() => reply.cancel(), DRAIN_MS);
  try {
    while ((await reply.read()) !== undefined);
  } catch {
    // A stream that broke has ended too.
  } finally {
    clearTimeout(timer);
  }
}

function tooLarge(maxBytes: number): McpError {
  return new McpError(
    'bad_response',
    `The answer is larger than ${maxBytes} bytes. Ask for less, or raise \`maxMessageBytes\`.`,
  );
}
