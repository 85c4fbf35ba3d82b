// The replicas of a server, and the balancer in front of them.

import type { Actor } from '../world/scheduler.js';
import { Replica, type ReplicaParts, replicaActor } from './replica.js';

/** The replicas of a server. */
export class SimulatedCluster {
  readonly replicas = new Set<Replica>();
  readonly #parts: ReplicaParts;
  #starts = 0;
  #turn = 0;

  constructor(parts: ReplicaParts) {
    this.#parts = parts;
  }

  /** Starts a replica after `ms`. */
  start(ms: number): void {
    const { world } = this.#parts;
    const actor: Actor = replicaActor(this.#parts, `replica ${++this.#starts}`);
    world.scheduler.after(ms, actor, () => {
      world.note(() => 'started');
      this.replicas.add(new Replica(this.#parts, actor));
    });
  }

  /** The replicas that have not ended. */
  get up(): readonly Replica[] {
    for (const replica of this.replicas) if (!replica.isUp) this.replicas.delete(replica);
    return [...this.replicas];
  }

  /** The replica that gets the next request; undefined if there is none. */
  next(): Replica | undefined {
    const open = this.up.filter(({ isClosing }) => !isClosing);
    return open[this.#turn++ % Math.max(1, open.length)];
  }

  /** Ends a replica at once. */
  kill(replica: Replica): void {
    const { world } = this.#parts;
    world.note(() => `kill ${replica.actor.name}`);
    replica.end();
  }
}
