import type { Call } from '../../protocol/call.js';
import type { SharedState } from '../../state/cluster.js';
import type { Registry, ResourceMatch } from '../catalog/registry.js';
import { changedOver } from '../state/changes.js';
import type { LifespanRun } from '../state/lifespan.js';
import type { Logger } from '../state/log.js';
import type { Watches } from '../watch/watches.js';
import type { Entrance } from './entrance.js';

/** The parts of a `Watching`. */
export interface WatchingParts {
  readonly registry: Registry;
  readonly entrance: Entrance;
  readonly shared: SharedState;
  readonly lifespan: LifespanRun<never>;
  readonly log: Logger;
}

interface Subscription {
  readonly call: Call;
  isOver: boolean;
  readonly removals: (() => void)[];
}

/** Counts the subscribers of resources that have hooks. The code that calls the hooks is loaded with the first of these subscribers. */
export class Watching {
  readonly #parts: WatchingParts;
  #watches: Promise<Watches> | undefined;
  #isClosed = false;

  constructor(parts: WatchingParts) {
    this.#parts = parts;
  }

  /** Counts a subscription. Returns a function that counts it off; undefined if none of the resources has hooks. */
  watch(call: Call, uris: readonly string[] = []): (() => void) | undefined {
    const { registry, log } = this.#parts;
    if (!registry.hasHooks || this.#isClosed) return undefined;
    const matches = [...new Set(uris)].map((uri) => registry.findResource(uri));
    const watched = matches.filter((match) => match?.source.hooks !== undefined) as ResourceMatch[];
    if (watched.length === 0) return undefined;
    const subscription: Subscription = { call, isOver: false, removals: [] };
    for (const match of watched)
      this.#add(match, subscription).catch((error) =>
        log('error', 'A subscription could not be counted, so "onSubscribe" is not called for it', error),
      );
    return () => {
      subscription.isOver = true;
      for (const remove of subscription.removals) remove();
    };
  }

  // A caller that may not be told of changes cannot start a watcher either.
  async #add(match: ResourceMatch, subscription: Subscription): Promise<void> {
    if (!(await this.#parts.entrance.mayFollow(subscription.call, match.uri)) || this.#isClosed) return;
    this.#watches ??= this.#load();
    const watches = await this.#watches;
    if (!subscription.isOver) subscription.removals.push(watches.add(match));
  }

  async #load(): Promise<Watches> {
    const { registry, shared, lifespan, log } = this.#parts;
    const { Watches } = await import('../watch/watches.js');
    const changed = changedOver((change) => void registry.publish(change));
    return new Watches({ shared, log, changed, state: () => lifespan.start() });
  }

  /** Ends all watches, so that other processes can have them. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await (await this.#watches)?.close();
  }
}
