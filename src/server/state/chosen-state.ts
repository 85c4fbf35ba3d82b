// The store, the bus and the event log of a server.

import type { Bus } from '../../state/bus.js';
import type { Cluster, SharedState } from '../../state/cluster.js';
import type { EventLog } from '../../state/event-log.js';
import { memoryStore } from '../../state/memory/store.js';
import { Readiness } from '../../state/readiness.js';
import type { Store } from '../../state/store.js';
import { putInOf, type TransactionalStore, transactionsOf } from '../../state/transaction.js';
import type { Logger } from './log.js';

/** The options of a `ChosenState`. */
export interface ChosenStateOptions {
  readonly name: string;
  readonly cluster?: Cluster | undefined;
  readonly store?: Store | undefined;
  readonly bus?: Bus | undefined;
  readonly tasks?: { readonly leaseMs?: number } | undefined;
  /** The functions that reject while middleware refuses calls. Default: none. */
  readonly checks?: (() => readonly (() => Promise<void>)[]) | undefined;
  readonly log: Logger;
}

/**
 * The store, the bus and the event log of a server: those of its options, those of its cluster, or those of this process alone.
 * They are chosen when they are first used, because `serve` may provide a cluster after the server was made.
 */
export class ChosenState implements SharedState {
  readonly server: string;
  readonly leaseMs: number | undefined;
  readonly #options: ChosenStateOptions;
  #cluster: Cluster | undefined;
  #store: Store | undefined;
  #starting: Promise<void> | undefined;
  #outer: ChosenState | undefined;
  readonly #readiness: Readiness;

  constructor(options: ChosenStateOptions) {
    this.server = options.name;
    this.leaseMs = options.tasks?.leaseMs;
    this.#options = options;
    this.#cluster = options.cluster;
    const { log, checks } = options;
    this.#readiness = new Readiness({
      checks: () => {
        const cluster = this.#cluster;
        return [...(cluster === undefined ? [] : [() => cluster.ping()]), ...(checks?.() ?? [])];
      },
      onUnavailable: (error) => log('error', 'The server is not ready: /ready replies with 503', error),
      onAvailable: () => log('info', 'The server is ready again: /ready replies with 200'),
    });
  }

  /** The store. It can be passed on before it is chosen. */
  readonly store: Store = laterStore(
    () => this.#chosenStore(),
    () => this.close(),
  );

  readonly bus = (): Bus | undefined => this.#options.bus ?? this.#cluster?.bus;

  readonly eventLog = (): EventLog | undefined => this.#cluster?.eventLog;

  readonly isReady = (): Promise<boolean> => this.#readiness.check();

  /** Sets the cluster, if the options have none. */
  provide(cluster: Cluster): void {
    if (this.#cluster !== undefined) return;
    if (this.#store !== undefined)
      throw new Error(
        'The cluster comes too late: the server already uses its own store. Pass it to createServer.',
      );
    this.#cluster = cluster;
  }

  /** Uses the store of a server that this one is mounted in, unless it has its own. */
  adopt(outer: ChosenState): void {
    const { store, cluster, bus } = this.#options;
    if (store === undefined && cluster === undefined && bus === undefined && this.#cluster === undefined)
      this.#outer ??= outer;
  }

  /** Connects to the cluster, once, and logs its warnings. */
  start(): Promise<void> {
    this.#starting ??= this.#start().catch((error) => {
      this.#starting = undefined;
      throw error;
    });
    return this.#starting;
  }

  async close(): Promise<void> {
    const { store, bus } = this.#options;
    await Promise.all([store?.close() ?? this.#store?.close(), bus?.close?.()]);
    await this.#cluster?.close();
  }

  async #start(): Promise<void> {
    const { log, store } = this.#options;
    if (this.#cluster === undefined) return;
    for (const warning of await this.#cluster.start()) log('warning', warning);
    if (this.#cluster.store === undefined && store === undefined)
      log(
        'warning',
        'This cluster has no store, so tasks and idempotency keys are known only to the process that created them. Pass the option "store" to createServer.',
      );
  }

  #chosenStore(): Store {
    if (this.#outer !== undefined && this.#store === undefined) return this.#outer.store;
    if (this.#store !== undefined) return this.#store;
    this.#store = this.#options.store ?? this.#cluster?.store ?? memoryStore();
    this.start().catch((error) => this.#options.log('error', 'The cluster could not be started', error));
    return this.#store;
  }
}

/** A store that is chosen with its first use. */
function laterStore(chosen: () => Store, close: () => Promise<void>): TransactionalStore {
  return {
    get: (key) => chosen().get(key),
    page: (prefix, options) => chosen().page(prefix, options),
    items: (list, options) => chosen().items(list, options),
    write: (changes, options) => chosen().write(changes, options),
    claim: (queue, options) => chosen().claim(queue, options),
    renew: (leases, ms) => chosen().renew(leases, ms),
    size: (queue) => chosen().size(queue),
    get transaction() {
      return transactionsOf(chosen());
    },
    get putIn() {
      return putInOf(chosen());
    },
    close,
  };
}
