import { Retries } from '../../async/retries.js';
import type { Call } from '../../protocol/call.js';
import { principalOf } from '../../protocol/caller.js';
import type { OutputAddress } from '../../protocol/model/output-uri.js';
import type { Store } from '../../state/store.js';
import { callerGroup } from '../../state/store-shares.js';

// Large results, in a store, in the group of the caller: nobody else finds them.

/** The limits of what is stored. */
export interface OutputLimits {
  /** The time until a result expires. */
  readonly ttlMs: number;
  /** The number of results of one caller. */
  readonly maxStored: number;
  /** The number of characters of one result. */
  readonly maxStoredChars: number;
}

/** A stored result. */
export interface StoredOutput {
  readonly uri: string;
  /** The characters that are stored. */
  readonly chars: number;
}

/** A part of a stored result. */
export interface OutputPage {
  readonly text: string;
  readonly mimeType: string;
  /** The position of the first character. */
  readonly from: number;
  /** The position after the last character. */
  readonly to: number;
  /** The characters of the whole result. */
  readonly total: number;
}

/** A result is stored in parts of this size, since some stores limit the size of an entry, and a page should not load the rest. */
export const PART_CHARS = 100_000;
/** Other processes may take a place between our read and our write. Each attempt of somebody succeeds, so this many are rare. */
// Random pauses: processes in step would lose again and again to the same one.
const CONTENDING = { baseMs: 5, maxMs: 150, jitter: [0, 1], maxAttempts: 30 } as const;
/** The stored results of a server. */
export class Outputs {
  readonly #store: () => Store;
  readonly #owner: string;
  readonly #limits: OutputLimits;
  /** The last call of each caller that takes a place in this process. They take turns, or most would take many attempts. */
  readonly #taking = new Map<string, Promise<unknown>>();

  constructor(store: () => Store, owner: string, limits: OutputLimits) {
    this.#store = store;
    this.#owner = owner;
    this.#limits = limits;
  }

  /** Stores a result for a caller. It replaces the oldest one if the caller has as many as it may have. */
  async keep(call: Call, text: string, mimeType: string): Promise<StoredOutput> {
    const { ttlMs, maxStoredChars } = this.#limits;
    const group = await this.#groupOf(call);
    const place = await this.#takePlace(group);
    const id = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
      byte.toString(16).padStart(2, '0'),
    ).join('');
    const total = pairEnd(text, maxStoredChars);
    for (let at = 0; at * PART_CHARS < total; at++) {
      const from = pairEnd(text, at * PART_CHARS);
      const to = Math.min(total, pairEnd(text, (at + 1) * PART_CHARS));
      const value = { id, from, total, mimeType, text: text.slice(from, to) };
      await this.#store().write([{ do: 'put', key: `output:${group}:${place}:${at}`, value, ttlMs }]);
    }
    return { uri: `output://${id}/${place}`, chars: total };
  }

  /** Reads at most `chars` characters; undefined if the result does not exist, has expired or belongs to another caller. */
  async read(
    call: Call,
    { id, place, offset }: OutputAddress,
    chars: number,
  ): Promise<OutputPage | undefined> {
    const group = await this.#groupOf(call);
    const part = Math.floor(offset / PART_CHARS);
    const entry = await this.#store().get(`output:${group}:${place}:${part}`);
    if (entry === undefined || entry.value['id'] !== id) return undefined;
    const { text, from: start, total, mimeType } = entry.value as Omit<OutputPage, 'to'>;
    const from = pairEnd(text, Math.max(0, offset - start));
    const to = pairEnd(text, from + chars);
    return { text: text.slice(from, to), mimeType, from: start + from, to: start + to, total };
  }

  #groupOf(call: Call): Promise<string> {
    return callerGroup(this.#owner, principalOf(call));
  }

  async #takePlace(group: string): Promise<number> {
    const taken = (this.#taking.get(group) ?? Promise.resolve()).then(() => this.#nextPlace(group));
    const settled = taken.catch(() => undefined);
    this.#taking.set(group, settled);
    try {
      return await taken;
    } finally {
      if (this.#taking.get(group) === settled) this.#taking.delete(group);
    }
  }

  /** The places of a caller are used in turn, so that a caller never stores more than it may. */
  async #nextPlace(group: string): Promise<number> {
    const { ttlMs, maxStored } = this.#limits;
    const key = `output:${group}`;
    const retries = new Retries(CONTENDING);
    while (await retries.next()) {
      const entry = await this.#store().get(key);
      const place = Number(entry?.value['next'] ?? 0) % maxStored;
      const { ok } = await this.#store().write([
        {
          do: 'put',
          key,
          value: { next: place + 1 },
          ttlMs,
          if: entry === undefined ? 'absent' : { version: entry.version },
        },
      ]);
      if (ok) return place;
    }
    throw new Error('Too many results of one caller are stored at the same time.');
  }
}

/** The position at or after `at`, within the string, that does not divide a surrogate pair. */
export function pairEnd(text: string, at: number): number {
  if (at >= text.length) return text.length;
  return isSurrogate(text.charCodeAt(at), 0xdc00) && isSurrogate(text.charCodeAt(at - 1), 0xd800)
    ? at + 1
    : at;
}

function isSurrogate(code: number, first: number): boolean {
  return code >= first && code < first + 0x400;
}
