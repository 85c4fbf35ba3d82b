// Failures for the page, in the client's own words, with advice.

import { isObject, type JsonObject } from '../../../jsonrpc/message.js';
import { type ErrorCode, McpError } from '../../../protocol/errors.js';
import { causeIn } from '../../../tooling/process-output.js';
import { IT_WROTE } from '../../../transports/client/process-name.js';
import type { Failure, ProcessOutput } from '../../contract/failure.js';

const MAX_DATA = 20_000;
const MAX_MESSAGE = 10_000;

const START_AGAIN = 'Start the server again.';
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

/** The part of a connection that its failures are made with. */
export interface FailingConnection {
  readonly id: string;
  /** Replaces the secrets of the connection in a string. */
  readonly mask: (text: string) => string;
  readonly init: {
    readonly shared: { readonly lastWords: (connection: string, since: number) => ProcessOutput };
  };
}

/** The failure of a connection: without its secrets, and with what its process has written since then. */
export function failureOf({ id, init, mask }: FailingConnection, error: unknown, since: number): Failure {
  return maskFailure(
    toFailure(error, () => init.shared.lastWords(id, since)),
    mask,
  );
}

/** An error as a failure. `lastWords` gives the lines of the server's process, which the message then does not repeat. */
function toFailure(error: unknown, lastWords: () => ProcessOutput): Failure {
  if (!McpError.is(error)) {
    const message = error instanceof Error ? error.message : String(error);
    return { code: 'internal_error', message: message.slice(0, MAX_MESSAGE) };
  }
  const { code, message, number } = error;
  const output = outputOf(error.data, lastWords);
  const data = output === undefined ? error.data : withoutOutput(error.data);
  const advice = output !== undefined && code === 'connection_closed' ? START_AGAIN : ADVICE[code];
  const [sentence = ''] = output === undefined ? [message] : message.split(IT_WROTE, 1);
  return {
    code,
    message: sentence.slice(0, MAX_MESSAGE),
    ...(advice !== undefined && { advice }),
    ...(number !== undefined && { number }),
    ...(isSmall(data) && { data }),
    ...(output && { output }),
  };
}

/** The output of a process that an error is about; undefined if there was none. */
function outputOf(data: unknown, lastWords: () => ProcessOutput): ProcessOutput | undefined {
  const { stderr, stdout } = isObject(data) ? data : {};
  if (!Array.isArray(stderr)) return undefined;
  const output = lastWords();
  if (output.lines.length + output.earlier.length > 0) return output;
  // A program that does not serve may have written its reason to stdout.
  const lines = (Array.isArray(stdout) ? stdout : []).filter((line) => typeof line === 'string');
  const cause = causeIn(lines);
  return lines.length === 0 ? undefined : { lines, earlier: [], ...(cause !== undefined && { cause }) };
}

function withoutOutput(data: unknown): unknown {
  const { stderr: _, stdout: __, ...rest } = data as JsonObject;
  return rest;
}

/** A failure without the secrets of its connection, which a server may have repeated. */
function maskFailure(failure: Failure, mask: (text: string) => string): Failure {
  const { data, output, ...rest } = failure;
  const text = data === undefined ? undefined : JSON.stringify(data);
  return {
    ...rest,
    message: mask(failure.message),
    ...(output && {
      output: {
        ...(output.cause !== undefined && { cause: mask(output.cause) }),
        lines: output.lines.map(mask),
        earlier: output.earlier.map(mask),
      },
    }),
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
