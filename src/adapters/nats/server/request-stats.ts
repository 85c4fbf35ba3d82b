// Counts the requests of an instance, for NATS' monitoring.

import type { McpError } from '../../../protocol/errors.js';

/** The counts of an endpoint, in the fields of NATS' service convention. Times are in nanoseconds. */
export interface EndpointCounts {
  readonly num_requests: number;
  readonly num_errors: number;
  readonly last_error: string;
  readonly processing_time: number;
  readonly average_processing_time: number;
}

/** The requests since the start of an instance. */
export class RequestStats {
  #requests = 0;
  #errors = 0;
  #lastError = '';
  #totalMs = 0;

  add(ms: number, error: McpError | undefined): void {
    this.#requests++;
    this.#totalMs += ms;
    if (error === undefined) return;
    this.#errors++;
    this.#lastError = error.message.slice(0, 500);
  }

  counts(): EndpointCounts {
    const total = Math.round(this.#totalMs * 1e6);
    return {
      num_requests: this.#requests,
      num_errors: this.#errors,
      last_error: this.#lastError,
      processing_time: total,
      average_processing_time: this.#requests === 0 ? 0 : Math.round(total / this.#requests),
    };
  }
}
