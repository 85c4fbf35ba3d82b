// Failures for the page, in the client's own words, with advice.

import { isObject } from '../../../jsonrpc/message.js';
import { type ErrorCode, McpError } from '../../../protocol/errors.js';
import type { Failure } from '../../contract/failure.js';

const MAX_DATA = 20_000;
const MAX_MESSAGE = 10_000;

const ADVICE: Partial<Record<ErrorCode, string>> = {
  connect_failed: 'Start the server, or check the address.',
  connection_closed: 'Look at the last lines of stderr, and start the server again.',
  unauthorized: 'Log in, or pass a token.',
  forbidden: 'Log in with an account that may do this, or ask for more scopes.',
  timeout: 'See in the log what the server is doing. Stop the call, or run it again.',
  unsupported_version: 'Choose another revision, or let the newest that both speak be chosen.',
  method_not_found: 'The server does not have this method. Look at its capabilities.',
  invalid_params: 'Change the arguments. The schema of the tool says which are allowed.',
  internal_error: 'The log of the server says why.',
  bad_response: 'The server sent something that is not MCP. The raw message is in the timeline.',
  missing_capability: 'The server needs something that this client does not offer.',
  overloaded: 'Wait a moment, and run it again.',
};

export function toFailure(error: unknown): Failure {
  if (!McpError.is(error)) {
    const message = error instanceof Error ? error.message : String(error);
    return { code: 'internal_error', message: message.slice(0, MAX_MESSAGE) };
  }
  const { code, message, number, data } = error;
  const advice = ADVICE[code];
  return {
    code,
    message: message.slice(0, MAX_MESSAGE),
    ...(advice !== undefined && { advice }),
    ...(number !== undefined && { number }),
    ...(isSmall(data) && { data }),
  };
}

/** A failure without the secrets of its connection, which a server may have repeated. */
export function maskFailure(failure: Failure, mask: (text: string) => string): Failure {
  const { data, ...rest } = failure;
  const text = data === undefined ? undefined : JSON.stringify(data);
  return {
    ...rest,
    message: mask(failure.message),
    // Data with a secret in it is left out.
    ...(text !== undefined && mask(text) === text && { data }),
  };
}

/** How the process of a server ended, as in `code 1`. */
export function exitOf(error: unknown): string | undefined {
  const data = McpError.is(error) && isObject(error.data) ? error.data : {};
  if (typeof data['signal'] === 'string') return data['signal'].slice(0, 20);
  return typeof data['exitCode'] === 'number' ? `code ${data['exitCode']}` : undefined;
}

function isSmall(data: unknown): boolean {
  if (data === undefined) return false;
  try {
    return (JSON.stringify(data)?.length ?? MAX_DATA) < MAX_DATA;
  } catch {
    return false;
  }
}
