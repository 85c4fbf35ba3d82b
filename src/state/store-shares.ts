// Limits the part of a store that each kind of entries and each caller may use.

import { digestOf } from '../protocol/canonical.js';
import { encodeBase64Url } from '../protocol/encoding/base64.js';

/** The total of a group of entries. */
interface Amount {
  readonly entries: number;
  readonly bytes: number;
}

/** Where the totals are kept: in memory, or where all processes see them. */
interface Amounts {
  get(group: string): Amount | undefined;
  set(group: string, amount: Amount): unknown;
  delete(group: string): unknown;
  clear?(): void;
}

/** The limits of a store. An entry that would exceed one of them is rejected. */
export interface StoreLimits {
  /** The number of entries. Default: 100,000 in memory, 1,000,000 on disk. */
  readonly maxEntries?: number;
  /**
   * The bytes of all keys and values, as JSON: one per character, two in a string with characters beyond Latin-1. Default: 256
   * MB in memory, 4 GB on disk.
   */
  readonly maxBytes?: number;
  /**
   * The share of both limits that one kind of entries (tasks, outcomes, used answers) may take, from 0.001 to 1.
   * Default: 0.5.
   */
  readonly kindShare?: number;
  /**
   * The share of both limits that the entries of one kind and one caller may take. All callers without `auth` count as one
   * caller. Default: 0.1.
   */
  readonly callerShare?: number;
}

/** The table of the shares. The other limits have defaults of their own in each engine. */
export const shareTable = {
  kindShare: { is: 'number', min: 0.001, max: 1, default: 0.5 },
  callerShare: { is: 'number', min: 0.001, max: 1, default: 0.1 },
} as const;

/** The error of a write that needs more room than is left. It succeeds when something else was removed. */
export class StoreFull extends Error {}

// The group of all entries. No kind and no caller has this name: a kind has at least one character, and no colon.
const ALL = ':';
const NOTHING: Amount = { entries: 0, bytes: 0 };

/**
 * Counts the use of a store by the form of its keys: `kind:rest`, or `kind:caller:rest` for entries of a caller. No kind and no
 * caller can use up the room that the others need.
 */
export class StoreShares {
  readonly #limits: Required<StoreLimits>;
  readonly #amounts: Amounts;

  constructor(limits: Required<StoreLimits>, amounts: Amounts = new Map<string, Amount>()) {
    this.#amounts = amounts;
    this.#limits = limits;
  }

  /**
   * Counts an entry of `bytes` that replaces one of `before` bytes. If it does not fit, `makeRoom` is called. Throws if the entry
   * still does not fit; a `RangeError` means that it never will. Returns a function that reverts the count.
   */
  replace(key: string, bytes: number, before: () => number | undefined, makeRoom: () => void): () => void {
    const problem = (): string | undefined => {
      const oldBytes = before();
      return this.#problem(key, oldBytes === undefined ? 1 : 0, bytes - (oldBytes ?? 0));
    };
    if (problem() !== undefined) makeRoom();
    const rejection = problem();
    const { maxBytes, kindShare } = this.#limits;
    const most = key.includes(':') ? maxBytes * kindShare : maxBytes;
    if (rejection !== undefined) throw bytes > most ? new RangeError(rejection) : new StoreFull(rejection);
    const oldBytes = before();
    return this.add(key, oldBytes === undefined ? 1 : 0, bytes - (oldBytes ?? 0));
  }

  /** The reason why the entry may not grow by this much; undefined if it may. */
  #problem(key: string, entries: number, bytes: number): string | undefined {
    const { maxEntries, maxBytes, kindShare, callerShare } = this.#limits;
    const [kind, caller] = groupsOf(key);
    const exceeded = (group: string, share: number): 'entries' | 'bytes' | undefined => {
      const used = this.#amounts.get(group) ?? NOTHING;
      if (entries > 0 && used.entries + entries > atLeastOne(maxEntries, share)) return 'entries';
      return bytes > 0 && used.bytes + bytes > Math.floor(maxBytes * share) ? 'bytes' : undefined;
    };
    const all = exceeded(ALL, 1);
    if (all === 'entries') return `The store is full: it has ${maxEntries} entries. Raise its maxEntries.`;
    if (all === 'bytes') return `The store is full: it may have ${maxBytes} bytes. Raise its maxBytes.`;
    if (kind !== undefined && exceeded(kind, kindShare) !== undefined)
      return `The store is full for "${kind}": a kind of entries may have ${percent(kindShare)} of maxEntries and maxBytes. Raise one of these, or kindShare.`;
    if (caller !== undefined && exceeded(caller, callerShare) !== undefined)
      return `The store is full for one caller: a caller's entries of a kind may have ${percent(callerShare)} of maxEntries and maxBytes. Raise one of these, or callerShare.`;
    return undefined;
  }

  /** Counts entries and bytes, without a limit. Returns a function that reverts the count. */
  add(key: string, entries: number, bytes: number): () => void {
    for (const group of [ALL, ...groupsOf(key)]) {
      const before = this.#amounts.get(group) ?? NOTHING;
      const amount = { entries: before.entries + entries, bytes: before.bytes + bytes };
      if (amount.entries === 0) this.#amounts.delete(group);
      else this.#amounts.set(group, amount);
    }
    return () => void this.add(key, -entries, -bytes);
  }

  clear(): void {
    this.#amounts.clear?.();
  }
}

// The kind and, if the key has a second part, the kind with the caller.
function groupsOf(key: string): string[] {
  const first = key.indexOf(':');
  if (first === -1) return [];
  const second = key.indexOf(':', first + 1);
  const kind = key.slice(0, first);
  return second === -1 ? [kind] : [kind, key.slice(0, second)];
}

function atLeastOne(most: number, share: number): number {
  return Math.min(most, Math.max(1, Math.floor(most * share)));
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

/** The memory that a string takes: one byte per character, or two if a character is beyond Latin-1. */
export function bytesOf(text: string): number {
  return /[\u0100-\uffff]/.test(text) ? text.length * 2 : text.length;
}

/** The group of a caller's keys: a digest of fixed length, which hides the caller's name. */
export async function callerGroup(server: string, principal: string): Promise<string> {
  return encodeBase64Url((await digestOf(JSON.stringify([server, principal]))).subarray(0, 16));
}
