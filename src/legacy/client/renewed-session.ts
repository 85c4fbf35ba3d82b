import { unlessAborted } from '../../async/abort.js';
import { withDeadline } from '../../async/deadline.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { McpError } from '../../protocol/errors.js';
import type { Exchange, OutgoingRequest } from '../../transports/client/exchange.js';
import type { Agreed } from './handshake.js';

const RENEWAL = {
  ms: 30_000,
  reason: () =>
    new McpError('timeout', 'The server lost the session and did not open another within 30 seconds'),
};

/** Sends a request as it is, whatever becomes of the session. */
export type Send = (method: string, params: JsonObject) => Promise<JsonObject>;

export interface Renewal {
  /** Does the handshake again. */
  readonly open: (signal: AbortSignal) => Promise<Agreed>;
  /** Tells the new session what the old one knew. */
  readonly restore: (send: Send) => Promise<void>;
}

/** A session that is opened again where the server has lost it. */
export class KeptSession {
  readonly #exchange: Exchange;
  readonly #renewal: Renewal;
  #agreed: Agreed;
  #lost = false;
  #opening: Promise<void> | undefined;

  constructor(exchange: Exchange, agreed: Agreed, renewal: Renewal) {
    this.#exchange = exchange;
    this.#agreed = agreed;
    this.#renewal = renewal;
  }

  get agreed(): Agreed {
    return this.#agreed;
  }

  /** A request that met a lost session was not processed: it is sent again, once. */
  async request(request: OutgoingRequest): Promise<JsonObject> {
    for (let attempt = 1; ; attempt++) {
      if (this.#lost) {
        this.#opening ??= this.#renew();
        await unlessAborted(this.#opening, request.signal);
      }
      const agreed = this.#agreed;
      try {
        return await this.#exchange.request(request);
      } catch (error) {
        if (attempt > 1 || !isSessionLost(error)) throw error;
        // Unless another call has met it too, and there is a new session already.
        if (this.#agreed === agreed) this.#lost = true;
      }
    }
  }

  async #renew(): Promise<void> {
    try {
      await withDeadline(RENEWAL, async (signal) => {
        this.#agreed = await this.#renewal.open(signal);
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
