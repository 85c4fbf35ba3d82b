// The condition of a replica's connections.

import type { World } from '../world/world.js';

const SLOW_MS = 1500;

/** The condition of a replica's connections to the store, the bus and its clients. */
export class Condition {
  isStoreCut = false;
  isBusCut = false;
  isNetworkCut = false;
  isStoreSlow = false;
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  /** The time that a message to or from the store takes. */
  storeDelay(): number {
    const { random } = this.#world;
    if (this.isStoreSlow) return random.between(1, SLOW_MS);
    return this.delay();
  }

  /** The time that a message takes: a few milliseconds, rarely much longer. */
  delay(): number {
    const { random, isFaulty } = this.#world;
    return isFaulty && random.chance(0.03) ? random.between(5, 300) : random.between(0.1, 4);
  }
}
