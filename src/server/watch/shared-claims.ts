// The claims of the processes that share a store.

import { every } from '../../async/every.js';
import type { SharedState } from '../../state/cluster.js';
import { LEASE_MS } from '../../state/lease-keeper.js';
import type { StoreEntry } from '../../state/store.js';
import { callerGroup } from '../../state/store-shares.js';
import { Topic } from '../../state/topic.js';
import type { Logger } from '../state/log.js';
import type { Claim, WatchClaims } from './claims.js';

/** The time after which an entry expires that no process has written again, because all that knew of it died. */
const FORGET_MS = 86_400_000;
/** The number of claims that are checked with each renewal, because messages of other processes may be lost. */
const CHECKED_AT_ONCE = 50;
const MAX_ATTEMPTS = 10;

/** The parts of `SharedClaims`. */
export interface SharedClaimsParts {
  readonly shared: SharedState;
  readonly log: Logger;
  /** The time after which a process counts as dead that has not renewed its entry. Default: 15 s. */
  readonly leaseMs?: number | undefined;
  /** Called when the claim of a URI must be checked: something may have changed in another process. */
  readonly onNews: (uri: string) => void;
}

interface Known {
  readonly key: string;
  /** The process that has the watch, if it is another one. */
  holder?: string | undefined;
}

/**
 * The claims of the processes that share a store. Three kinds of entries: `watch` has the process that watches a resource, `watcher` a
 * process that has subscribers of it, `watching` a process that is alive. Only the last kind is renewed, so that the number of resources
 * costs nothing.
 */
export class SharedClaims implements WatchClaims {
  readonly #parts: SharedClaimsParts;
  readonly #process: string = crypto.randomUUID();
  readonly #leaseMs: number;
  readonly #known = new Map<string, Known>();
  readonly #uris = new Map<string, string>();
  readonly #topic: Topic<{ readonly key: string }>;
  #stopRenewing: (() => void) | undefined;
  #beginning: Promise<void> | undefined;
  #failures = 0;

  constructor(parts: SharedClaimsParts) {
    this.#parts = parts;
    this.#leaseMs = parts.leaseMs ?? LEASE_MS;
    const { shared, log } = parts;
    this.#topic = new Topic({
      name: `watches:${shared.server}`,
      bus: shared.bus,
      onFailure: (error) => log('warning', 'The bus could not carry announcements of subscriptions', error),
    });
    this.#topic.subscribe({
      message: ({ key }) => {
        const uri = this.#uris.get(key);
        if (uri !== undefined) parts.onNews(uri);
      },
      gap: () => this.#checkAll(),
    });
  }

  async claim(uri: string): Promise<Claim> {
    await this.#begin();
    const known = await this.#know(uri);
    const present = this.#presence(known);
    const hold = {
      do: 'put',
      key: `watch:${known.key}`,
      value: { process: this.#process },
      ttlMs: FORGET_MS,
    } as const;
    const { store } = this.#parts.shared;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      known.holder = undefined;
      if ((await store.write([{ ...hold, if: 'absent' }, present])).ok)
        return attempt === 0 ? 'first' : 'taken';
      // The presence is written before the holder is read: a holder that gives up after that announces it.
      await store.write([present]);
      const entry = await store.get(hold.key);
      if (entry === undefined) continue;
      const holder = holderOf(entry);
      if (holder === this.#process) return 'first';
      known.holder = holder;
      if (await this.#isAlive(holder)) return 'elsewhere';
      known.holder = undefined;
      if ((await store.write([{ ...hold, if: { version: entry.version } }])).ok) return 'taken';
    }
    throw new Error('The watch of a resource could not be claimed: other processes kept changing it.');
  }

  async isMine(uri: string): Promise<boolean> {
    const { key } = await this.#know(uri);
    const entry = await this.#parts.shared.store.get(`watch:${key}`);
    if (entry === undefined || holderOf(entry) !== this.#process) return false;
    const { value, version } = entry;
    const renewed = { do: 'put', key: entry.key, value, ttlMs: FORGET_MS, if: { version } } as const;
    return (await this.#parts.shared.store.write([renewed])).ok;
  }

  async othersWant(uri: string): Promise<boolean> {
    const { key } = await this.#know(uri);
    const prefix = `watcher:${key}:`;
    const { store } = this.#parts.shared;
    let page: readonly StoreEntry[];
    let after: string | undefined;
    do {
      page = await store.page(prefix, after === undefined ? {} : { after });
      for (const entry of page) {
        const watcher = entry.key.slice(prefix.length);
        if (watcher === this.#process) continue;
        if (await this.#isAlive(watcher)) return true;
        await store.write([{ do: 'delete', key: entry.key }]);
      }
      after = page.at(-1)?.key;
    } while (page.length > 0);
    return false;
  }

  async release(uri: string): Promise<void> {
    const { key } = await this.#know(uri);
    const { store } = this.#parts.shared;
    const gone = { do: 'delete', key: `watcher:${key}:${this.#process}` } as const;
    const entry = await store.get(`watch:${key}`);
    const isMine = entry !== undefined && holderOf(entry) === this.#process;
    const freed = isMine ? [{ do: 'delete', key: entry.key, if: { version: entry.version } } as const] : [];
    // A watch that another process has taken over in the meantime is not this one's to free.
    if (!(await store.write([...freed, gone])).ok) await store.write([gone]);
    this.#known.delete(uri);
    this.#uris.delete(key);
    await this.#topic.publish({ key });
  }

  async close(): Promise<void> {
    this.#stopRenewing?.();
    this.#topic.close();
    if (this.#beginning !== undefined)
      await this.#parts.shared.store.write([{ do: 'delete', key: `watching:${this.#process}` }]);
  }

  /** Records that this process is alive, before its first claim, and from then on. */
  #begin(): Promise<void> {
    this.#beginning ??= this.#announceLife().catch((error) => {
      this.#beginning = undefined;
      throw error;
    });
    return this.#beginning;
  }

  async #announceLife(): Promise<void> {
    await this.#topic.ready();
    await this.#renew();
    // A renewal does not wait for the one before, which may take as long as the lease.
    this.#stopRenewing ??= every(this.#leaseMs / 3, () => void this.#tick());
  }

  // A process that was paused, or a computer that slept, may not know that it counted as dead.
  async #renew(): Promise<void> {
    const { store } = this.#parts.shared;
    const key = `watching:${this.#process}`;
    const hasExpired = (await store.get(key)) === undefined;
    await store.write([{ do: 'put', key, value: {}, ttlMs: this.#leaseMs }]);
    if (hasExpired) this.#checkAll();
  }

  async #tick(): Promise<void> {
    try {
      await this.#renew();
      const holders = new Set([...this.#known.values()].map(({ holder }) => holder));
      for (const holder of holders) {
        if (holder === undefined || (await this.#isAlive(holder))) continue;
        for (const [uri, known] of this.#known) if (known.holder === holder) this.#parts.onNews(uri);
      }
      this.#failures = 0;
    } catch (error) {
      if (this.#failures++ === 0)
        this.#parts.log('warning', 'The store could not record which resources this process watches', error);
    }
    // Those that were checked go to the end of the map.
    for (const [uri, known] of [...this.#known].slice(0, CHECKED_AT_ONCE)) {
      this.#known.delete(uri);
      this.#known.set(uri, known);
      this.#parts.onNews(uri);
    }
  }

  #checkAll(): void {
    for (const uri of [...this.#known.keys()]) this.#parts.onNews(uri);
  }

  async #know(uri: string): Promise<Known> {
    const known = this.#known.get(uri) ?? { key: await callerGroup(this.#parts.shared.server, uri) };
    this.#known.set(uri, known);
    this.#uris.set(known.key, uri);
    return known;
  }

  async #isAlive(id: string): Promise<boolean> {
    return (await this.#parts.shared.store.get(`watching:${id}`)) !== undefined;
  }

  #presence({ key }: Known) {
    const own = `watcher:${key}:${this.#process}`;
    return { do: 'put', key: own, value: {}, ttlMs: FORGET_MS } as const;
  }
}

function holderOf({ value }: StoreEntry): string {
  return String(value['process']);
}
