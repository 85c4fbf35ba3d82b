// Requests that arrive in parts.

import type { NatsHeaders } from '../connection/nats-types.js';
import { placeOf } from '../link/frames.js';
import { PartReader } from '../link/message-parts.js';

interface Upload {
  readonly reader: PartReader;
  /** The headers of the first part, which are those of the request. */
  readonly headers: NatsHeaders | undefined;
  touchedAt: number;
}

/** A part of a request. */
export interface UploadedPart {
  readonly reply: string;
  readonly data: Uint8Array;
  readonly headers: NatsHeaders | undefined;
}

/** A request that is complete. */
export interface UploadedRequest {
  readonly data: Uint8Array;
  readonly headers: NatsHeaders | undefined;
}

/** The requests that are not complete yet, by the inboxes of their responses. */
export class Uploads {
  readonly #open = new Map<string, Upload>();
  readonly #maxBytes: number;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get size(): number {
    return this.#open.size;
  }

  /** The replies of all requests that are not complete. */
  replies(): Iterable<string> {
    return this.#open.keys();
  }

  /** Takes the first part of a request. Throws a RangeError if it is not one. */
  begin({ reply, data, headers }: UploadedPart): void {
    const place = placeOf(headers);
    const reader = new PartReader(this.#maxBytes);
    reader.take(data, place?.count === 1 ? undefined : place);
    this.#open.set(reply, { reader, headers, touchedAt: performance.now() });
  }

  /** Takes a further part. Returns the request when it is complete. Throws a RangeError for a part that does not fit. */
  take({ reply, data, headers }: UploadedPart): UploadedRequest | undefined {
    const upload = this.#open.get(reply);
    if (upload === undefined) return undefined;
    upload.touchedAt = performance.now();
    try {
      const whole = upload.reader.take(data, placeOf(headers));
      if (whole === undefined) return undefined;
      this.#open.delete(reply);
      return { data: whole, headers: upload.headers };
    } catch (error) {
      this.#open.delete(reply);
      throw error;
    }
  }

  drop(reply: string): void {
    this.#open.delete(reply);
  }

  /** Forgets requests whose parts have stopped coming. */
  dropOlderThan(ms: number): void {
    const now = performance.now();
    for (const [reply, { touchedAt }] of this.#open) if (now - touchedAt > ms) this.#open.delete(reply);
  }
}
