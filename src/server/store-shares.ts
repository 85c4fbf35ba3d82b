import { encodeBase64Url } from '../protocol/base64.js';

/** What the entries of a group have together. */
interface Amount {
  entries: number;
  bytes: number;
}

export interface ShareLimits {
  readonly maxEntries: number;
  readonly maxBytes: number;
  /** What one kind of entries may have of both, between 0 and 1. */
  readonly kindShare: number;
  /** What one caller's entries of a kind may have of both, between 0 and 1. */
  readonly callerShare: number;
}

/**
 * Who has how much of a store, by the names of its keys: `kind:rest`, or `kind:caller:rest` for what belongs to a caller. No kind
 * and no caller can take what the others need.
 */
export class StoreShares {
  readonly #limits: ShareLimits;
  readonly #all: Amount = { entries: 0, bytes: 0 };
  readonly #groups = new Map<string, Amount>();

  constructor(limits: ShareLimits) {
    this.#limits = limits;
  }

  /** Why the entry may not grow by this much, or undefined if it may. */
  problem(key: string, entries: number, bytes: number): string | undefined {
    const { maxEntries, maxBytes, kindShare, callerShare } = this.#limits;
    const [kind, caller] = groupsOf(key);
    const fits = (amount: Amount | undefined, share: number): 'entries' | 'bytes' | undefined => {
      const { entries: had, bytes: weighed } = amount ?? { entries: 0, bytes: 0 };
      if (entries > 0 && had + entries > atLeastOne(maxEntries, share)) return 'entries';
      return bytes > 0 && weighed + bytes > Math.floor(maxBytes * share) ? 'bytes' : undefined;
    };
    const all = fits(this.#all, 1);
    if (all === 'entries') return `The store is full: it has ${maxEntries} entries. Raise its maxEntries.`;
    if (all === 'bytes') return `The store is full: it may have ${maxBytes} bytes. Raise its maxBytes.`;
    if (kind !== undefined && fits(this.#groups.get(kind), kindShare) !== undefined)
      return `The store is full for "${kind}": a kind of entries may have ${percent(kindShare)} of maxEntries and maxBytes. Raise one of these, or kindShare.`;
    if (caller !== undefined && fits(this.#groups.get(caller), callerShare) !== undefined)
      return `The store is full for one caller: a caller's entries of a kind may have ${percent(callerShare)} of maxEntries and maxBytes. Raise one of these, or callerShare.`;
    return undefined;
  }

  add(key: string, entries: number, bytes: number): void {
    grow(this.#all, entries, bytes);
    for (const group of groupsOf(key)) {
      const amount = this.#groups.get(group) ?? { entries: 0, bytes: 0 };
      grow(amount, entries, bytes);
      if (amount.entries === 0) this.#groups.delete(group);
      else this.#groups.set(group, amount);
    }
  }

  clear(): void {
    grow(this.#all, -this.#all.entries, -this.#all.bytes);
    this.#groups.clear();
  }
}

function grow(amount: Amount, entries: number, bytes: number): void {
  amount.entries += entries;
  amount.bytes += bytes;
}

// The kind, and where there is a second part, the kind and the caller.
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

/** What a text weighs in memory: a byte for each character, two where one of them is beyond Latin-1. */
export function bytesOf(text: string): number {
  return /[\u0100-\uffff]/.test(text) ? text.length * 2 : text.length;
}

/** The part of a key that names a caller: of one length, without colons, and nobody's name in a store. */
export async function callerPart(principal: string): Promise<string> {
  const bytes = new TextEncoder().encode(principal);
  return encodeBase64Url(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)).subarray(0, 16));
}
