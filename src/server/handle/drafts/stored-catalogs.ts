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
/** A longer list has no digest: an entry of the store would be too large. */
const MAX_DEFINITIONS = 1000;

const DIGEST = /^sha256:[\w-]{43}$/;

type Definitions = Snapshot['definitions'];

/** Keeps the digests of the definitions of each list, by the digest of the list. */
export class StoredCatalogs {
  readonly #shared: SharedState;
  readonly #log: Logger;
  readonly #kept = new ExpiringMap<Promise<boolean>>(REMEMBERED);
  readonly #found = new ExpiringMap<Definitions>(REMEMBERED);

  constructor(shared: SharedState, log: Logger) {
    this.#shared = shared;
    this.#log = log;
  }

  /** Keeps a list before it is sent. False if it cannot be kept: then its digest must not be sent. */
  keep(snapshot: Snapshot): Promise<boolean> {
    const { digest, definitions } = snapshot;
    if (definitions.size > MAX_DEFINITIONS) return Promise.resolve(false);
    const known = this.#kept.get(digest);
    if (known !== undefined) return known;
    const writing = this.#write(snapshot);
    this.#kept.set(digest, writing, REWRITE_MS);
    return writing;
  }

  async #write({ digest, definitions }: Snapshot): Promise<boolean> {
    try {
      const key = await this.#key(digest);
      const value = { definitions: [...definitions] };
      const { ok } = await this.#shared.store.write([{ do: 'put', key, value, ttlMs: KEPT_MS }]);
      return ok;
    } catch (error) {
      this.#kept.delete(digest);
      this.#log('warning', 'A list was sent without its digest, because the store failed', error);
      return false;
    }
  }

  /** The digests of the definitions of a list, by name; undefined if the list is not known, or not any more. */
  async find(digest: string): Promise<Definitions | undefined> {
    if (!DIGEST.test(digest)) return undefined;
    const known = this.#found.get(digest);
    if (known !== undefined) return known;
    try {
      const entry = await this.#shared.store.get(await this.#key(digest));
      if (entry === undefined) return undefined;
      const found = new Map(entry.value['definitions'] as [string, string][]);
      this.#found.set(digest, found, FOUND_MS);
      return found;
    } catch (error) {
      this.#log('warning', 'A call was rejected as stale, because the store failed', error);
      return undefined;
    }
  }

  async #key(digest: string): Promise<string> {
    return `catalog:${encodeBase64Url(await digestOf(canonical([this.#shared.server, digest])))}`;
  }
}
