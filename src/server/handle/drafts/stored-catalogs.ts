// The lists that callers of any process may still know, in the store that all processes share.

import { ExpiringMap } from '../../../async/expiring-map.js';
import { canonical, digestOf } from '../../../protocol/canonical.js';
import { encodeBase64Url } from '../../../protocol/encoding/base64.js';
import type { SharedState } from '../../../state/cluster.js';
import type { Logger } from '../../state/log.js';
import type { Snapshot } from './snapshot.js';

/** The time for which a list is kept after a process has sent it for the last time, give or take the time between two writes. */
const KEPT_MS = 24 * 60 * 60 * 1000;
const REWRITE_MS = KEPT_MS / 24;
/** The time for which a list that was found is not read again. */
const FOUND_MS = 60_000;
/** The number of lists that are remembered in memory, by a clock that nobody can set. */
const REMEMBERED = { maxEntries: 64, now: () => performance.now() };
const TAG = /^sha256:[\w-]{43}$/;

type Definitions = Snapshot['definitions'];

/** Keeps the digests of the definitions of each list, by the tag of the list. */
export class StoredCatalogs {
  readonly #shared: SharedState;
  readonly #log: Logger;
  readonly #kept = new ExpiringMap<Promise<boolean>>(REMEMBERED);
  readonly #found = new ExpiringMap<Definitions>(REMEMBERED);

  constructor(shared: SharedState, log: Logger) {
    this.#shared = shared;
    this.#log = log;
  }

  /** Keeps a list before it is sent. False if it cannot be kept: then its tag must not be sent. */
  keep(snapshot: Snapshot): Promise<boolean> {
    const { tag } = snapshot;
    const known = this.#kept.get(tag);
    if (known !== undefined) return known;
    const writing = this.#write(snapshot);
    this.#kept.set(tag, writing, REWRITE_MS);
    return writing;
  }

  async #write({ tag, definitions }: Snapshot): Promise<boolean> {
    try {
      const key = await this.#key(tag);
      const value = { definitions: [...definitions] };
      const { ok } = await this.#shared.store.write([{ do: 'put', key, value, ttlMs: KEPT_MS }]);
      return ok;
    } catch (error) {
      this.#kept.delete(tag);
      this.#log('warning', 'A list was sent without its tag, because the store failed', error);
      return false;
    }
  }

  /** The digests of the definitions of a list, by name; undefined if the list is not known, or not any more. */
  async find(tag: string): Promise<Definitions | undefined> {
    if (!TAG.test(tag)) return undefined;
    const known = this.#found.get(tag);
    if (known !== undefined) return known;
    try {
      const entry = await this.#shared.store.get(await this.#key(tag));
      if (entry === undefined) return undefined;
      const found = new Map(entry.value['definitions'] as [string, string][]);
      this.#found.set(tag, found, FOUND_MS);
      return found;
    } catch (error) {
      this.#log('warning', 'A call was rejected as stale, because the store failed', error);
      return undefined;
    }
  }

  async #key(tag: string): Promise<string> {
    return `catalog:${encodeBase64Url(await digestOf(canonical([this.#shared.server, tag])))}`;
  }
}
