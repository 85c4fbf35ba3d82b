import type { Call } from '../../protocol/call.js';
import { type ErrorCode, McpError } from '../../protocol/errors.js';
import type { ProxyLogger } from './options.js';

// Errors of the connection to a server, and not of the server itself. They contain addresses, command lines and the output of programs,
// which are for the operator alone.

/** The codes of such errors. */
export const connectionCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'connect_failed',
  'connection_closed',
  'timeout',
  'bad_response',
]);

const LOG_AGAIN_MS = 60_000;

/** Tells the operator why a server cannot be used, and callers only that it cannot. */
export class ConnectionErrors {
  readonly #logger: ProxyLogger;
  #logged = '';
  #loggedAt = Number.NEGATIVE_INFINITY;

  constructor(logger: ProxyLogger) {
    this.#logger = logger;
  }

  /** The error that a caller gets. The program that the proxy runs in gets all of it. */
  readonly toCaller = (call: Call, error: unknown): unknown => {
    if (!McpError.is(error) || !connectionCodes.has(error.code)) return error;
    if (call.via === undefined || call.isLocal) return error;
    this.#log(error);
    return new McpError(error.code, words(error.code), { cause: error });
  };

  #log(error: McpError): void {
    const now = performance.now();
    if (error.message === this.#logged && now - this.#loggedAt < LOG_AGAIN_MS) return;
    this.#logged = error.message;
    this.#loggedAt = now;
    // The message says it all, except for what a response was that cannot be read.
    this.#logger('warning', error.message, error.code === 'bad_response' ? error : undefined);
  }
}

function words(code: ErrorCode): string {
  if (code === 'timeout') return 'The server behind this one did not answer in time.';
  if (code === 'bad_response') return 'The response of the server behind this one cannot be read.';
  if (code === 'connection_closed') return 'The connection to the server behind this one was lost.';
  return 'The server behind this one cannot be reached.';
}
