import type { Outcome } from '../../protocol/call.js';

// The results that are kept, in memory, within limits.

/** A moment, on a clock that never jumps and on one that also runs while the computer sleeps. */
export interface Moment {
  readonly steadyMs: number;
  readonly wallMs: number;
}

/** The present moment. */
export function now(): Moment {
  return { steadyMs: performance.now(), wallMs: Date.now() };
}

/** The time since a moment. If the clocks disagree, the longer time counts, so that nothing is kept for too long. */
function msSince({ steadyMs, wallMs }: Moment): number {
  return Math.max(performance.now() - steadyMs, Date.now() - wallMs);
}

/** A result that is kept. */
export interface KeptEntry {
  /** The result as JSON: neither its handler nor its callers can change it. */
  readonly json: string;
  readonly keptAt: Moment;
  readonly keepMs: number;
  readonly method: string;
  /** The URI of the resource that was read. */
  readonly uri: unknown;
  /** The only caller that may get the result; undefined if all may. */
  readonly owner: string | undefined;
}

/** The limits of the results that are kept. */
export interface EntryLimits {
  readonly maxEntries: number;
  readonly maxChars: number;
}

/** Reads an outcome. Its `ttlMs` is the time that is left of the one that it had. */
export function outcomeOf({ json, keptAt }: Pick<KeptEntry, 'json' | 'keptAt'>): Outcome {
  const outcome = JSON.parse(json) as Outcome;
  const { ttlMs } = outcome;
  if (typeof ttlMs === 'number' && ttlMs > 0)
    outcome['ttlMs'] = Math.max(0, Math.floor(ttlMs - msSince(keptAt)));
  return outcome;
}

/** The results that are kept, each under its key. If there are too many, the least recently used go first. */
export class Entries {
  readonly #limits: EntryLimits;
  /** The least recently used first. */
  readonly #entries = new Map<string, KeptEntry>();
  /** The keys of each owner. */
  readonly #owned = new Map<string, Set<string>>();
  #chars = 0;

  constructor(limits: EntryLimits) {
    this.#limits = limits;
  }

  /** Finds a result that is still fresh. */
  get(key: string): KeptEntry | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (msSince(entry.keptAt) >= entry.keepMs) {
      this.#drop(key);
      return undefined;
    }
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry;
  }

  /** Keeps a result. One that takes more than a quarter of the room is not kept. */
  set(key: string, entry: KeptEntry): void {
    const { maxEntries, maxChars } = this.#limits;
    this.#drop(key);
    if (charsOf(key, entry) > maxChars / 4) return;
    this.#entries.set(key, entry);
    this.#chars += charsOf(key, entry);
    if (entry.owner !== undefined) {
      const keys = this.#owned.get(entry.owner) ?? new Set();
      this.#owned.set(entry.owner, keys.add(key));
    }
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= maxEntries && this.#chars <= maxChars) break;
      this.#drop(oldest);
    }
  }

  /** Drops all results that a condition holds for. */
  dropWhere(isStale: (entry: KeptEntry) => boolean): void {
    for (const [key, entry] of this.#entries) if (isStale(entry)) this.#drop(key);
  }

  /** Drops the results that are kept for one caller alone. */
  dropOwned(owner: string): void {
    for (const key of this.#owned.get(owner) ?? []) this.#drop(key);
  }

  #drop(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#chars -= charsOf(key, entry);
    const keys = entry.owner === undefined ? undefined : this.#owned.get(entry.owner);
    if (keys?.delete(key) && keys.size === 0) this.#owned.delete(entry.owner as string);
  }
}

function charsOf(key: string, { json }: KeptEntry): number {
  return key.length + json.length;
}
