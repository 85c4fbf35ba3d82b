import { parseStrictly, RefusedJson } from '../../../jsonrpc/parse.js';
import { McpError } from '../../../protocol/errors.js';
import type { ParsedMessage } from '../../server/channel.js';
import type { BodyLimits, BodyReceiver, HeaderFields, Incoming } from './incoming.js';
import { noHeaders } from './json-reply.js';
import { replyToFailure } from './refusal.js';

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

type PostBody = (incoming: Incoming, text: string, headers: HeaderFields) => Promise<void> | void;

/** A request until it has its reply. It receives its own body, so that no function is made for each request. */
export class ReceivedRequest implements BodyReceiver {
  readonly incoming: Incoming;
  headers: HeaderFields = noHeaders;
  readonly done: () => void;
  readonly #post: PostBody;

  constructor(incoming: Incoming, post: PostBody, done: () => void) {
    this.incoming = incoming;
    this.#post = post;
    this.done = done;
  }

  receiveBody(text: string): void {
    try {
      const post = this.#post;
      const working = post(this.incoming, text, this.headers);
      if (working === undefined) this.done();
      else working.then(this.done, (error) => this.fail(error));
    } catch (error) {
      this.fail(error);
    }
  }

  fail(error: unknown): void {
    replyToFailure(this.incoming, error, this.headers);
    this.done();
  }
}
