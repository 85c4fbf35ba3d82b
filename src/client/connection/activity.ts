import { shorten } from '../../protocol/encoding/shorten.js';
import type { McpError } from '../../protocol/errors.js';
import type { LastError } from '../model/client.js';

// When a client last heard from its server, and what went wrong last.

const MAX_MESSAGE = 500;
/** The codes of errors that do not come from a server. */
const silentCodes: ReadonlySet<string> = new Set([
  'connect_failed',
  'connection_closed',
  'timeout',
  'cancelled',
]);

/** The latest message of the server and the latest error, for `info()`. */
export class Activity {
  #heardAt: number = Date.now();
  #lastError: LastError | undefined;

  /** The time of the latest message, in milliseconds since 1970. */
  get heardAt(): number {
    return this.#heardAt;
  }

  get lastError(): LastError | undefined {
    return this.#lastError;
  }

  /** The server has sent something. */
  heard(): void {
    this.#heardAt = Date.now();
  }

  /** A request has failed: most errors are responses of the server. */
  refused({ code }: McpError): void {
    if (!silentCodes.has(code)) this.heard();
  }

  /** A call or the connection has failed. */
  failed({ code, message, source }: McpError): void {
    this.#lastError = { at: new Date().toISOString(), code, message: shorten(message, MAX_MESSAGE), source };
  }
}
