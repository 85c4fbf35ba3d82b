import { isDeeperThan } from '../../../jsonrpc/depth.js';
import { EventStreamReader, EventTooLarge } from '../../../jsonrpc/event-stream.js';
import { type JsonObject, type Message, type RequestId, readMessage } from '../../../jsonrpc/message.js';
import { cancelledBy, McpError } from '../../../protocol/errors.js';
import type { HttpReply } from './carrier.js';
import { isOk, mediaType } from './read-body.js';
import { describeBody, peerError, refusal } from './refusal.js';
import type { Lease } from './request-scopes.js';
import type { HttpTarget } from './target.js';
import { incomplete } from './unreachable.js';

export type Answer = Extract<Message, { kind: 'result' | 'error' }>;
type Said = Exclude<Message, Answer>;
type Problem = (message: string, cause?: unknown) => void;

/** Who waits for an answer, and is told what comes before it. */
export interface Expecting {
  /** Undefined where only what the peer says of its own accord is expected. */
  readonly id: RequestId | undefined;
  readonly heard: (message: Said) => void;
  readonly problem: Problem;
}

const MAX_DEPTH = 512;
/** How long the end of a stream may follow its answer; a connection that has ended can be used again. */
const DRAIN_MS = 250;

/** Reads the answer to a POST: one body, or a stream. */
export async function readAnswer(
  reply: HttpReply,
  { target, expecting, lease }: { target: HttpTarget; expecting: Expecting; lease: Lease },
): Promise<JsonObject> {
  if (!isOk(reply)) throw await refusal(reply, target);
  const answer = isEventStream(reply)
    ? await readStream(reply, {
        reader: new EventStreamReader({ maxBytes: target.maxBytes }),
        take: answerIn(expecting),
        lease,
      }).catch((error: unknown) => {
        throw McpError.is(error) ? error : incomplete(target.shown, error);
      })
    : await readBody(reply, target, expecting);
  if (answer === undefined) throw incomplete(target.shown);
  return resultOf(answer, reply.status);
}

export function resultOf(answer: Answer, status: number): JsonObject {
  if (answer.kind === 'error') throw peerError(answer.error, status);
  return answer.result;
}

export function isEventStream(reply: HttpReply): boolean {
  return mediaType(reply) === 'text/event-stream';
}

async function readBody(
  reply: HttpReply,
  { shown, maxBytes, conceal }: HttpTarget,
  expecting: Expecting,
): Promise<Answer> {
  const { status } = reply;
  const text = await reply.text(maxBytes).catch((error: unknown) => {
    throw incomplete(shown, error);
  });
  if (text === undefined) throw tooLarge(maxBytes);
  const odd = (what: string, cause?: unknown): McpError =>
    new McpError('bad_response', `${shown} answered ${what}. Is this the address of an MCP server?`, {
      status,
      cause,
      data: { status },
    });
  if (text.trim() === '') throw odd(`${status} with nothing in it`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const what = conceal(describeBody(reply, text));
    throw odd(
      what.startsWith('a web page') ? `with ${what} instead of MCP` : 'with something else than JSON',
      error,
    );
  }
  // It is all that will come: to call it incomplete would let it be asked for again.
  if (isTooDeep(value, text.length)) throw odd(`with JSON that nests deeper than ${MAX_DEPTH} levels`);
  let why: string | undefined;
  const problem: Problem = (message) => {
    why ??= message;
  };
  const answer = pick(value, text.length, { ...expecting, problem });
  if (answer === undefined)
    throw odd(`with JSON that does not answer the request${why ? `. ${why.slice(0, -1)}` : ''}`);
  if (why !== undefined) expecting.problem(why);
  return answer;
}

/** Finds the answer among the events of a stream; what else is in them is heard, or reported. */
export function answerIn(expecting: Expecting): Reading<Answer>['take'] {
  return function answerIn(data, event) {
    if (event !== 'message') return undefined;
    let value: unknown;
    try {
      value = JSON.parse(data);
    } catch (error) {
      expecting.problem('Something that is not JSON came in a stream and was skipped.', error);
      return undefined;
    }
    return pick(value, data.length, expecting);
  };
}

function isTooDeep(value: unknown, size: number): boolean {
  return size > 2 * MAX_DEPTH && isDeeperThan(value, MAX_DEPTH);
}

function pick(value: unknown, size: number, { id, heard, problem }: Expecting): Answer | undefined {
  if (isTooDeep(value, size)) {
    problem(`A message that nests deeper than ${MAX_DEPTH} levels was skipped.`);
    return undefined;
  }
  // 2025-03-26 has batches.
  for (const item of Array.isArray(value) ? value : [value]) {
    const message = readMessage(item);
    if (message.kind === 'invalid') problem(`Something that is no message was skipped: ${message.reason}.`);
    else if (message.kind === 'request' || message.kind === 'notification') heard(message);
    // An error without an id can only be about what was asked here.
    else if (id !== undefined && isSame(message.id ?? id, id)) return message;
    else
      problem(`An answer with the id ${JSON.stringify(message.id)?.slice(0, 64)} was skipped: nobody asked.`);
  }
  return undefined;
}

// The ids are integers. Some peers give one back as a string.
function isSame(given: RequestId, id: RequestId): boolean {
  return given === id || given === String(id);
}

interface Reading<T> {
  readonly reader: EventStreamReader;
  /** Takes the data of an event; anything but `undefined` ends the reading. */
  readonly take: (data: string, event: string) => T | undefined;
  readonly lease: Lease;
}

/** Reads a stream until `take` has what it wants. Rejects with whatever broke the stream, or an `McpError`. */
export async function readStream<T>(
  reply: HttpReply,
  { reader, take, lease }: Reading<T>,
): Promise<T | undefined> {
  try {
    for (;;) {
      const chunk = await reply.read();
      if (chunk === undefined) return undefined;
      let found: T | undefined;
      for (const { event, data } of reader.push(chunk)) {
        if (found === undefined && data !== '') found = take(data, event);
      }
      if (found === undefined) continue;
      lease.after(drain(reply));
      return found;
    }
  } catch (error) {
    reply.cancel();
    if (lease.ended) throw cancelledBy(lease.signal.reason);
    throw error instanceof EventTooLarge ? tooLarge(error.maxBytes) : error;
  }
}

async function drain(reply: HttpReply): Promise<void> {
  const timer = setTimeout(() => reply.cancel(), DRAIN_MS);
  try {
    while ((await reply.read()) !== undefined);
  } catch {
    // It broke: then it has ended too.
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
