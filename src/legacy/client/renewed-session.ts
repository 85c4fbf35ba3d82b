import { unlessAborted } from '../../async/abort.js';
import { withDeadline } from '../../async/deadline.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { McpError } from '../../protocol/errors.js';
import type { Exchange, OutgoingRequest } from '../../transports/client/exchange.js';
import type { HandshakeResult } from './handshake.js';

// A session that survives when the server loses it: the client does the handshake again, and repeats the request.

const RENEWAL = {
  ms: 30_000,
  reason: () =>
    new McpError('timeout', 'The server lost the session and did not open another within 30 seconds.'),
};

/** Sends a request on the current session, without renewing it. */
export type Send = (method: string, params: JsonObject) => Promise<JsonObject>;

export interface SessionRenewal {
  /** Does the handshake again. */
  readonly open: (signal: AbortSignal) => Promise<HandshakeResult>;
  /** Sends the state of the old session, such as its log level, to the new one. */
  readonly restore: (send: Send) => Promise<void>;
}

/** A session that is opened again when the server has lost it. */
export class RenewedSession {
  readonly #exchange: Exchange;
  readonly #renewal: SessionRenewal;
  #handshake: HandshakeResult;
  #isLost = false;
  #opening: Promise<void> | undefined;

  constructor(exchange: Exchange, handshake: HandshakeResult, renewal: SessionRenewal) {
    this.#exchange = exchange;
    this.#handshake = handshake;
    this.#renewal = renewal;
  }

  get handshake(): HandshakeResult {
    return this.#handshake;
  }

  /** Sends a request. If the server has lost the session, it has not processed the request: the request is sent again, once. */
  async request(request: OutgoingRequest): Promise<JsonObject> {
    for (let attempt = 1; ; attempt++) {
      if (this.#isLost) {
        this.#opening ??= this.#renew();
        await unlessAborted(this.#opening, request.signal);
      }
      const handshake = this.#handshake;
      try {
        return await this.#exchange.request(request);
      } catch (error) {
        if (attempt > 1 || !isSessionLost(error)) throw error;
        // Not if another call has found the session lost too, and has opened a new one already.
        if (this.#handshake === handshake) this.#isLost = true;
      }
    }
  }

  async #renew(): Promise<void> {
    try {
      await withDeadline(RENEWAL, async (signal) => {
        this.#handshake = await this.#renewal.open(signal);
        await this.#renewal.restore((method, params) => this.#exchange.request({ method, params, signal }));
      });
      this.#isLost = false;
    } finally {
      this.#opening = undefined;
    }
  }
}

function isSessionLost(error: unknown): boolean {
  return McpError.is(error) && isObject(error.data) && error.data['sessionLost'] === true;
}
