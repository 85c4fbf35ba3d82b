// The entries and lists of a store in memory, with their sizes and their expiry.

import { unref } from '../../async/unref.js';
import { type StoreLimits, StoreShares } from '../store-shares.js';

interface Slot {
  bytes: number;
  /** On a monotonic clock, so that setting the clock of the machine expires nothing. */
  expiresAt: number;
}

/** An entry as it is kept. */
export interface StoredEntry extends Slot {
  readonly json: string;
  readonly version: string;
}

/** A list as it is kept, its items by name. */
export interface StoredList extends Slot {
  readonly items: Map<string, { readonly at: number; readonly json: string }>;
}

/** The expiry of something that does not expire. */
export const NEVER: number = Number.POSITIVE_INFINITY;
// The shortest interval between two searches for expired entries: each walks over all entries.
const SWEEP_EVERY_MS = 1000;

/** The entries and lists of a store. Expired ones are never returned, and are removed once a second. */
export class MemoryContents {
  readonly #entries = new Map<string, StoredEntry>();
  readonly #lists = new Map<string, StoredList>();
  readonly #shares: StoreShares;
  #earliest = NEVER;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #nextSweep = NEVER;

  constructor(limits: Required<StoreLimits>) {
    this.#shares = new StoreShares(limits);
  }

  get entries(): ReadonlyMap<string, StoredEntry> {
    return this.#entries;
  }

  entry(key: string): StoredEntry | undefined {
    return this.#read(this.#entries, key);
  }

  list(name: string): StoredList | undefined {
    return this.#read(this.#lists, name);
  }

  /**
   * Counts the bytes that an entry or a list is going to have. Throws if they do not fit: then the old one stays. Returns a
   * function that reverts the count.
   */
  reserve(key: string, bytes: number, before: () => number | undefined): () => void {
    // A walk over all entries is worth it only if one has expired.
    return this.#shares.replace(key, bytes, before, () => this.#earliest <= now() && this.#sweep());
  }

  /** Stops counting an entry or a list that is going to be removed. Returns a function that reverts that. */
  free(key: string, slot: StoredEntry | StoredList | undefined): () => void {
    return slot === undefined ? () => undefined : this.#shares.add(key, -1, -slot.bytes);
  }

  /** Keeps an entry whose bytes are reserved. */
  setEntry(key: string, entry: StoredEntry): void {
    this.#entries.set(key, entry);
    this.#sweepAt(entry.expiresAt);
  }

  /** Keeps a list whose bytes are reserved. */
  setList(name: string, list: StoredList): void {
    this.#lists.set(name, list);
    this.#sweepAt(list.expiresAt);
  }

  /** Removes an entry whose bytes are freed. */
  removeEntry(key: string): void {
    this.#entries.delete(key);
  }

  /** Removes a list whose bytes are freed. */
  removeList(name: string): void {
    this.#lists.delete(name);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#entries.clear();
    this.#lists.clear();
    this.#shares.clear();
  }

  #read<T extends Slot>(slots: Map<string, T>, key: string): T | undefined {
    const slot = slots.get(key);
    if (slot === undefined || slot.expiresAt > now()) return slot;
    this.#remove(slots, key);
    return undefined;
  }

  #remove(slots: Map<string, Slot>, key: string): void {
    const slot = slots.get(key);
    if (slot === undefined) return;
    this.#shares.add(key, -1, -slot.bytes);
    slots.delete(key);
  }

  #sweep(): void {
    let next = NEVER;
    for (const slots of [this.#entries, this.#lists] as Map<string, Slot>[])
      for (const [key, { expiresAt }] of slots) {
        if (expiresAt <= now()) this.#remove(slots, key);
        else next = Math.min(next, expiresAt);
      }
    this.#earliest = next;
    clearTimeout(this.#timer);
    this.#nextSweep = NEVER;
    this.#sweepAt(next);
  }

  #sweepAt(expiresAt: number): void {
    if (expiresAt === NEVER) return;
    this.#earliest = Math.min(this.#earliest, expiresAt);
    const at = Math.max(expiresAt, now() + SWEEP_EVERY_MS);
    if (at >= this.#nextSweep) return;
    clearTimeout(this.#timer);
    this.#nextSweep = at;
    // A timer cannot wait longer than this. A sweep that finds nothing sets the timer again.
    this.#timer = setTimeout(() => this.#sweep(), Math.min(at - now(), 0x7fffffff));
    unref(this.#timer);
  }
}

/** The expiry of an entry or list: `ttlMs` from now, or else as before. */
export function expiryOf(ttlMs: number | undefined, before: Slot | undefined): number {
  return ttlMs === undefined ? (before?.expiresAt ?? NEVER) : now() + ttlMs;
}

/** The clock of the store. */
export function now(): number {
  return performance.now();
}
