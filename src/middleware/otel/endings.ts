import { type Attributes, type Span, SpanStatusCode } from '@opentelemetry/api';
import { isObject } from '../../jsonrpc/message.js';
import { shorten } from '../../protocol/encoding/shorten.js';
import { McpError, toMcpError } from '../../protocol/errors.js';
import { newestRevision, type Revision } from '../../protocol/tables/revisions.js';

// How operations end, in the words of the conventions.

/** The end of an operation: the attributes that it adds, and the description of a failure. */
export interface OperationEnd {
  readonly attributes: Attributes;
  readonly description?: string | undefined;
}

const MAX_DESCRIPTION = 256;

/** The numbers that a server sends because of a mistake of its caller. To the server, these are not errors. */
const CALLERS_MISTAKES: readonly number[] = [-32700, -32600, -32601, -32602, -32002];

const noError: OperationEnd = { attributes: {} };
const toolError: OperationEnd = { attributes: { 'error.type': 'tool_error' } };

/** The end of an operation that has a result. */
export function endingOf(result: unknown): OperationEnd {
  return isObject(result) && result['isError'] === true ? toolError : noError;
}

/** The end of an operation in a server that has failed. The messages of unknown errors are not shown to anybody. */
export function serverFailure(error: unknown, revision: Revision): OperationEnd {
  const failure = toMcpError(error);
  // Nobody waits for the response to a cancelled call, so there is none.
  if (failure.code === 'cancelled') return failed('cancelled', failure.message);
  const { code, message } = failure.toWire(revision);
  const attributes = { 'rpc.response.status_code': String(code) };
  if (CALLERS_MISTAKES.includes(code)) return { attributes };
  return failed(String(code), message, attributes);
}

/** The end of an operation in a client that has failed. `isLocal`: the server is in the same process. */
export function clientFailure(error: unknown, isLocal: boolean): OperationEnd {
  if (!McpError.is(error)) return failed(error instanceof Error ? error.name : '_OTHER');
  const { number = isLocal ? error.toWire(newestRevision).code : undefined, code, message } = error;
  // Without a number, the error is not one that the server has sent.
  if (number === undefined || code === 'cancelled') return failed(code, message);
  return failed(String(number), message, { 'rpc.response.status_code': String(number) });
}

function failed(type: string, description?: string, attributes: Attributes = {}): OperationEnd {
  return {
    attributes: { ...attributes, 'error.type': shorten(type, 64) },
    description: description && shorten(description, MAX_DESCRIPTION),
  };
}

/** Ends a span. */
export function endSpan(span: Span, { attributes, description }: OperationEnd): void {
  span.setAttributes(attributes);
  if (attributes['error.type'] !== undefined)
    span.setStatus({ code: SpanStatusCode.ERROR, ...(description && { message: description }) });
  span.end();
}
