import { unlessAborted } from '../../async/abort.js';
import { withDeadline } from '../../async/deadline.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { McpError } from '../../protocol/errors.js';
import type { Exchange, OutgoingRequest } from '../../transports/client/exchange.js';
import type { HandshakeResult } from './handshake.js';

const RENEWAL = {
  ms: 30_000,
  reason: () =>
    new McpError('timeout', 'The server lost the session and did not open another within 30 seconds'),
};

/** Sends a request as it is, whatever becomes of the session. */
export type Send = (method: string, params: JsonObject) => Promise<JsonObject>;

export interface SessionRenewal {
  /** Does the handshake again. */
  readonly open: (signal: AbortSignal) => Promise<HandshakeResult>;
  /** Tells the new session what the old one knew. */
  readonly restore: (send: Send) => Promise<void>;
}

/** A session that is opened again where the server has lost it. */
export class RenewedSession {
  readonly #exchange: Exchange;
  readonly #renewal: SessionRenewal;
  #handshake: HandshakeResult;
  #lost = false;
  #opening: Promise<void> | undefined;

  constructor(exchange: Exchange, handshake: HandshakeResult, renewal: SessionRenewal) {
    this.#exchange = exchange;
    this.#handshake = handshake;
    this.#renewal = renewal;
  }

  get handshake(): HandshakeResult {
    return this.#handshake;
  }

  /** A request that met a lost session was not processed: it is sent again, once. */
  async request(request: OutgoingRequest): Promise<JsonObject> {
    for (let attempt = 1; ; attempt++) {
      if (this.#lost) {
        this.#opening ??= this.#renew();
        await unlessAborted(this.#opening, request.signal);
      }
      const handshake = this.#handshake;
      try {
        return await this.#exchange.request(request);
      } catch (error) {
        if (attempt > 1 || !isSessionLost(error)) throw error;
        // Unless another call has met it too, and there is a new session already.
        if (this.#handshake === handshake) this.#lost = true;
      }
    }
  }

  async #renew(): Promise<void> {
    try {
      await withDeadline(RENEWAL, async (signal) => {
        this.#handshake = await this.#renewal.open(signal);
        await this.#renewal.restore((method, params) => this.#exchange.request({ method, params, signal }));
      });
      this.#lost = false;
    } finally {
      this.#opening = undefined;
    }
  }
}

function isSessionLost(error: unknown): boolean {
  return McpError.is(error) && isObject(error.data) && error.data['sessionLost'] === true;
}
