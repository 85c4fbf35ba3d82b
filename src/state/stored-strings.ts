// Large strings, in a store, in the group of the caller: nobody else finds them.

import { Retries } from '../async/retries.js';
import { type Caller, principalOf } from '../protocol/caller.js';
import type { Store } from './store.js';
import { callerGroup } from './store-shares.js';

/** The limits of what is stored. */
export interface StringLimits {
  /** The time until a string expires. */
  readonly ttlMs: number;
  /** The number of strings of one caller. */
  readonly maxStored: number;
  /** The number of characters of one string. */
  readonly maxStoredChars: number;
}

/** The name of a stored text. */
export interface StringAddress {
  /** 128 random bits, as hexadecimal digits. */
  readonly id: string;
  readonly place: string;
}

/** A stored text. */
export interface StoredString extends StringAddress {
  /** The characters that are stored. */
  readonly chars: number;
}

/** A part of a stored text. */
export interface StringPage {
  readonly text: string;
  readonly mimeType: string;
  /** The position of the first character. */
  readonly from: number;
  /** The position after the last character. */
  readonly to: number;
  /** The characters of the whole string. */
  readonly total: number;
}

/** A string is stored in parts of this size, since some stores limit the size of an entry, and a page should not load the rest. */
export const PART_CHARS = 100_000;
/** Other processes may take a place between our read and our write. Each attempt of somebody succeeds, so this many are rare. */
// Random pauses: processes in step would lose again and again to the same one.
const CONTENDING = { baseMs: 5, maxMs: 150, jitter: [0, 1], maxAttempts: 30 } as const;

/** The owner of stored strings. */
export interface StringOwner {
  /** The kind of the strings, with which their keys begin. */
  readonly kind: string;
  /** The server, or the part of it. */
  readonly name: string;
}

/** The stored strings of a server. */
export class StoredStrings {
  readonly #store: () => Store;
  readonly #owner: StringOwner;
  readonly #limits: StringLimits;
  /** The last call of each caller that takes a place in this process. They take turns, or most would take many attempts. */
  readonly #taking = new Map<string, Promise<unknown>>();

  constructor(store: () => Store, owner: StringOwner, limits: StringLimits) {
    this.#store = store;
    this.#owner = owner;
    this.#limits = limits;
  }

  /** Stores a string for a caller. It replaces the oldest one if the caller has as many as it may have. */
  async keep(caller: Caller, text: string, mimeType: string): Promise<StoredString> {
    const { ttlMs, maxStoredChars } = this.#limits;
    const group = await this.#groupOf(caller);
    const place = await this.#takePlace(group);
    const id = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
      byte.toString(16).padStart(2, '0'),
    ).join('');
    const total = pairEnd(text, maxStoredChars);
    for (let at = 0; at * PART_CHARS < total; at++) {
      const from = pairEnd(text, at * PART_CHARS);
      const to = Math.min(total, pairEnd(text, (at + 1) * PART_CHARS));
      const value = { id, from, total, mimeType, text: text.slice(from, to) };
      await this.#store().write([{ do: 'put', key: this.#key(group, `${place}:${at}`), value, ttlMs }]);
    }
    return { id, place: String(place), chars: total };
  }

  /** Reads at most `chars` characters; undefined if the text does not exist, has expired or belongs to another caller. */
  async read(
    caller: Caller,
    { id, place, offset }: StringAddress & { readonly offset: number },
    chars: number,
  ): Promise<StringPage | undefined> {
    const group = await this.#groupOf(caller);
    const part = Math.floor(offset / PART_CHARS);
    const entry = await this.#store().get(this.#key(group, `${place}:${part}`));
    if (entry === undefined || entry.value['id'] !== id) return undefined;
    const { text, from: start, total, mimeType } = entry.value as Omit<StringPage, 'to'>;
    const from = pairEnd(text, Math.max(0, offset - start));
    const to = pairEnd(text, from + chars);
    return { text: text.slice(from, to), mimeType, from: start + from, to: start + to, total };
  }

  /** Reads a whole string; undefined if it does not exist, has expired or belongs to another caller, or if a part of it was replaced. */
  async readAll(caller: Caller, address: StringAddress): Promise<string | undefined> {
    const texts: string[] = [];
    for (let offset = 0; ; ) {
      const page = await this.read(caller, { ...address, offset }, PART_CHARS);
      if (page === undefined) return undefined;
      texts.push(page.text);
      if (page.to >= page.total) return texts.join('');
      if (page.to <= offset) return undefined;
      offset = page.to;
    }
  }

  #key(group: string, rest: string): string {
    return `${this.#owner.kind}:${group}:${rest}`;
  }

  #groupOf(caller: Caller): Promise<string> {
    return callerGroup(this.#owner.name, principalOf(caller));
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
    const key = `${this.#owner.kind}:${group}`;
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
    throw new Error('Too many strings of one caller are stored at the same time.');
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
