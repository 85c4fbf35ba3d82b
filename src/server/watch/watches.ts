// Calls `onSubscribe` and `onUnsubscribe` of resources. Loaded only if a definition has one of them.

import { settlesWithin } from '../../async/deadline.js';
import type { SharedState } from '../../state/cluster.js';
import type { ResourceMatch } from '../catalog/registry.js';
import type { Changed } from '../state/changes.js';
import type { Logger } from '../state/log.js';
import { onlyProcess, type WatchClaims } from './claims.js';
import { SharedClaims } from './shared-claims.js';
import { UriWatch, type UriWatchParts } from './uri-watch.js';

const MAX_WATCHED = 100_000;
/** The number of hooks that run at the same time. */
const MAX_RUNNING = 256;
/** The longest time that a shutdown waits for hooks. */
const CLOSE_MS = 5000;

/** The parts of the server that watches need. */
export interface WatchesParts extends Pick<UriWatchParts, 'state'> {
  readonly shared: SharedState;
  readonly changed: Changed;
  readonly log: Logger;
  /** The time after which a process counts as dead. Default: 15 s. */
  readonly leaseMs?: number | undefined;
}

/** The watches of all resources that have hooks and, in some process, subscribers. */
export class Watches {
  readonly #parts: UriWatchParts;
  readonly #claims: WatchClaims;
  readonly #watches = new Map<string, UriWatch>();
  readonly #waiting: (() => Promise<void>)[] = [];
  #running = 0;
  #hasWarned = false;
  #closing: Promise<void> | undefined;

  constructor({ shared, leaseMs, log, ...parts }: WatchesParts) {
    const onNews = (uri: string): void => this.#watches.get(uri)?.check();
    this.#claims =
      shared.bus() === undefined ? onlyProcess : new SharedClaims({ shared, log, leaseMs, onNews });
    this.#parts = {
      ...parts,
      log,
      claims: this.#claims,
      schedule: (work) => {
        this.#waiting.push(work);
        this.#runNext();
      },
      onEnd: (uri) => void this.#watches.delete(uri),
    };
  }

  /** Counts a subscriber. Returns a function that counts it off. */
  add(match: ResourceMatch): () => void {
    const { uri } = match;
    let watch = this.#watches.get(uri);
    if (this.#closing !== undefined || (watch === undefined && this.#isFull)) return () => undefined;
    watch ??= new UriWatch(match, this.#parts);
    this.#watches.set(uri, watch);
    watch.add();
    return () => watch.remove();
  }

  /** Ends all watches, so that other processes can have them. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const ended = Promise.all([...this.#watches.values()].map((watch) => watch.close()));
    if (!(await settlesWithin(ended, CLOSE_MS)))
      this.#parts.log('warning', `Some "onUnsubscribe" hooks did not end within ${CLOSE_MS} ms`);
    const closed = this.#claims.close().catch((error: unknown) => {
      this.#parts.log('warning', 'The store could not record that this process watches nothing', error);
    });
    await settlesWithin(closed, CLOSE_MS);
  }

  get #isFull(): boolean {
    if (this.#watches.size < MAX_WATCHED) return false;
    if (!this.#hasWarned)
      this.#parts.log(
        'warning',
        `${MAX_WATCHED} resources are watched. "onSubscribe" is not called for more of them.`,
      );
    this.#hasWarned = true;
    return true;
  }

  #runNext(): void {
    while (this.#running < MAX_RUNNING) {
      const work = this.#waiting.shift();
      if (work === undefined) return;
      this.#running++;
      void work().finally(() => {
        this.#running--;
        this.#runNext();
      });
    }
  }
}
