// One process of the server.

import { createServer, type Store } from 'fullmcp';
import { type Actor, newActor } from '../world/scheduler.js';
import type { Recorded } from '../world/world.js';
import { Condition } from './condition.js';
import type { SimulatedBus } from './simulated-bus.js';
import { storeLink } from './store-link.js';
import { simulatedTools } from './tools.js';

const SERVER = 'sim';
/** The time for which a task is kept. It is longer than any simulation. */
export const TTL_MS = 3_600_000;
/** A server that is closed has ended after this time. */
const CLOSED_MS = 60_000;

/** The parts of a replica that all replicas share. */
export interface ReplicaParts extends Recorded {
  readonly store: Store;
  readonly storeActor: Actor;
  readonly bus: SimulatedBus;
}

/** A client's connection to a replica. */
export interface Connection {
  break(): void;
  abort(): void;
}

/** A process of the server: the real server on simulated connections. */
export class Replica {
  readonly actor: Actor;
  readonly condition: Condition;
  readonly server: ReturnType<typeof createServer>;
  /** Whether it is about to end: the balancer sends it nothing more. */
  isClosing = false;
  readonly connections = new Set<Connection>();
  readonly #parts: ReplicaParts;

  /** Starts a process. Call it in an event of its own. */
  constructor(parts: ReplicaParts, actor: Actor) {
    const { world, ledger, store, storeActor, bus } = parts;
    const { leaseMs, parkMs, maxRunning } = world.settings;
    this.#parts = parts;
    this.actor = actor;
    this.condition = new Condition(world);
    this.server = createServer({
      name: SERVER,
      version: '1.0.0',
      idempotency: true,
      secret: 's'.repeat(40),
      tasks: { leaseMs, parkMs, maxRunning, pollIntervalMs: 500, ttlMs: TTL_MS },
      logger: (level, message, detail) => world.note(() => `${level}: ${message} ${detail ?? ''}`),
      tools: simulatedTools({ world, ledger }, actor),
      store: storeLink({ world, ledger, store, storeActor, replica: actor, condition: this.condition }),
      bus: bus.connect(actor, this.condition),
    });
    void this.server.start();
  }

  get isUp(): boolean {
    return this.actor.state !== 'dead';
  }

  /** Ends the process at once. */
  end(): void {
    this.#parts.world.scheduler.kill(this.actor);
    for (const connection of this.connections) connection.break();
  }

  /** Ends the process in an orderly way. */
  close(): void {
    const { world, ledger } = this.#parts;
    if (this.isClosing || !this.isUp) return;
    this.isClosing = true;
    const { scheduler } = world;
    const late = scheduler.after(CLOSED_MS, world.fate, () => {
      if (this.actor.state === 'running') ledger.violate('shutdown hangs', this.actor.name);
      this.end();
    });
    scheduler.after(0, this.actor, () => {
      world.note(() => 'closing');
      this.server
        .drain({ drainMs: 2000 })
        .then(() => {
          for (const connection of this.connections) connection.abort();
          return this.server.close();
        })
        .then(() => {
          world.note(() => 'closed');
          late.cancel();
          this.end();
        });
    });
  }
}

/** Makes the actor of a new process. Its clock may be wrong. */
export function replicaActor({ world }: Recorded, name: string): Actor {
  const actor = newActor(name);
  if (world.random.chance(0.5)) actor.skewMs = world.random.between(-60_000, 60_000);
  return actor;
}
