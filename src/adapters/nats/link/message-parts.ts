// Messages that are larger than NATS accepts travel in parts.

import type { PartPlace } from './frames.js';

/** The space for headers beside a part, unless that is more than half of what NATS accepts. */
const HEADER_BYTES = 4096;

/** The parts of a message; one if it fits. `maxPayload` is the limit of the server. */
export function splitMessage(data: Uint8Array, maxPayload: number): readonly Uint8Array[] {
  const size = Math.max(1, maxPayload - Math.min(HEADER_BYTES, Math.floor(maxPayload / 2)));
  if (data.length <= size) return [data];
  const parts: Uint8Array[] = [];
  for (let at = 0; at < data.length; at += size) parts.push(data.subarray(at, at + size));
  return parts;
}

/** Puts the parts of one message together. They arrive in order. */
export class PartReader {
  readonly #maxBytes: number;
  readonly #parts: Uint8Array[] = [];
  #bytes = 0;
  #count: number | undefined;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Takes a part. Returns the message when it is complete. Throws a RangeError if the parts do not make a message. */
  take(data: Uint8Array, place: PartPlace | undefined): Uint8Array | undefined {
    if (
      place === undefined ||
      place.at !== this.#parts.length ||
      (this.#count ?? place.count) !== place.count
    )
      throw new RangeError('the parts of a message are not in order');
    this.#count = place.count;
    this.#bytes += data.length;
    if (this.#bytes > this.#maxBytes) throw new RangeError(tooLarge(this.#maxBytes));
    this.#parts.push(data);
    return this.#parts.length === place.count ? Buffer.concat(this.#parts) : undefined;
  }
}

/** The reason for which a message is refused. */
export function tooLarge(maxBytes: number): string {
  return `the message has more than ${maxBytes} bytes; send less, or raise \`maxMessageBytes\``;
}
