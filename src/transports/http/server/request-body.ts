import { parseStrictly, RefusedJson } from '../../../jsonrpc/parse.js';
import { McpError } from '../../../protocol/errors.js';
import type { ParsedMessage } from '../../server/channel.js';
import type { InFlight } from './in-flight.js';
import {
  type BodyLimits,
  type BodyReceiver,
  type HeaderFields,
  type Incoming,
  noHeaders,
} from './incoming.js';
import type { Refusals } from './refusal.js';

// The body of a POST: its type, its JSON, and the request that waits for it.

/** Throws unless the body is declared to be JSON. */
export function checkBodyType(incoming: Incoming): void {
  const type = incoming.header('content-type');
  if (type === undefined || !isJson(type)) {
    throw new McpError('invalid_request', 'Content-Type must be application/json', { status: 415 });
  }
}

function isJson(type: string): boolean {
  return type === 'application/json' || type.split(';')[0]?.trim().toLowerCase() === 'application/json';
}

/** Parses a body. Throws if it is not JSON, nests too deep, or has a number that is too large. */
export function parseBody(text: string, maxDepth: number): unknown {
  const value = parseStrictly(text, maxDepth);
  if (!(value instanceof RefusedJson)) return value;
  if (value.fault === 'syntax') throw new McpError('parse_error', 'The body is not valid JSON');
  throw new McpError(
    'invalid_request',
    value.fault === 'deep'
      ? `The body is nested deeper than ${maxDepth} levels`
      : 'The body has a number that is too large for a double',
  );
}

/** Reads, parses and checks a body. */
export async function readBody(
  incoming: Incoming,
  { maxDepth, ...limits }: BodyLimits & { readonly maxDepth: number },
): Promise<ParsedMessage> {
  checkBodyType(incoming);
  const text = await new Promise<string>((receiveBody, fail) => incoming.read(limits, { receiveBody, fail }));
  return { value: parseBody(text, maxDepth), length: text.length };
}

/** The parts of an endpoint that a request needs. */
export interface ReceivedParts {
  readonly post: (incoming: Incoming, text: string, headers: HeaderFields) => Promise<void> | void;
  readonly inFlight: InFlight;
  readonly refusals: Refusals;
}

/** A request until it has its reply. It receives its own body, so that no function is made for each request. */
export class ReceivedRequest implements BodyReceiver {
  readonly incoming: Incoming;
  headers: HeaderFields = noHeaders;
  readonly #parts: ReceivedParts;
  readonly #done: () => void;

  constructor(incoming: Incoming, parts: ReceivedParts, done: () => void) {
    this.incoming = incoming;
    this.#parts = parts;
    this.#done = done;
    parts.inFlight.requestBegan();
  }

  receiveBody(text: string): void {
    try {
      const working = this.#parts.post(this.incoming, text, this.headers);
      if (working === undefined) this.finish();
      else this.finishAfter(working);
    } catch (error) {
      this.fail(error);
    }
  }

  fail(error: unknown): void {
    this.#parts.refusals.fail(this.incoming, error, this.headers);
    this.finish();
  }

  finishAfter(work: Promise<unknown>): void {
    work.then(
      () => this.finish(),
      (error) => this.fail(error),
    );
  }

  finish(): void {
    this.#parts.inFlight.requestEnded();
    this.#done();
  }
}
