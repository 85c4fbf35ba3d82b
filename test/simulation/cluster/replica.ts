// One process of the server.

import { createServer, type Store } from 'fullmcp';
import { createEndpoint, type EventLog } from 'fullmcp/http';
import { type Actor, newActor } from '../world/scheduler.js';
import type { Recorded } from '../world/world.js';
import { Condition } from './condition.js';
import { eventLogLink } from './event-log-link.js';
import type { SimulatedBus } from './simulated-bus.js';
import { storeLink } from './store-link.js';
import { simulatedEvents, simulatedTools } from './tools.js';

const SERVER = 'sim';
const SECRET = 's'.repeat(40);
/** The time for which a call of a session waits for answers. No client takes so long. */
const ASK_MS = 1_800_000;
/** The time for which a task is kept. It is longer than any simulation. */
export const TTL_MS = 3_600_000;
/** A server that is closed has ended after this time. */
const CLOSED_MS = 60_000;
const DRAIN_MS = 2000;

/** The parts of a replica that all replicas share. */
export interface ReplicaParts extends Recorded {
  readonly store: Store;
  readonly log: EventLog;
  /** The engine that keeps the store and the event log. */
  readonly storeActor: Actor;
  readonly bus: SimulatedBus;
}

interface Subject {
  readonly subject: string | undefined;
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
  /** The server over HTTP, for sessions. */
  readonly endpoint: ReturnType<typeof createEndpoint>;
  /** Whether it is about to end: the balancer sends it nothing more. */
  isClosing = false;
  readonly connections = new Set<Connection>();
  readonly #parts: ReplicaParts;

  /** Starts a process. Call it in an event of its own. */
  constructor(parts: ReplicaParts, actor: Actor) {
    const { world, bus } = parts;
    const { leaseMs, parkMs, maxRunning, isOnce } = world.settings;
    this.#parts = parts;
    this.actor = actor;
    this.condition = new Condition(world);
    this.server = createServer({
      name: SERVER,
      version: '1.0.0',
      idempotency: true,
      secret: SECRET,
      asking: { once: isOnce },
      tasks: { leaseMs, parkMs, maxRunning, pollIntervalMs: 500, ttlMs: TTL_MS },
      logger: (level, message, detail) => world.note(() => `${level}: ${message} ${detail ?? ''}`),
      tools: simulatedTools(parts, actor),
      events: simulatedEvents,
      store: storeLink({ ...parts, replica: actor, condition: this.condition }),
      bus: bus.connect(actor, this.condition),
    });
    const options = {
      auth: ({ subject }: Subject) => (subject === undefined ? undefined : { subject }),
      eventLog: eventLogLink({ ...parts, replica: actor, condition: this.condition }),
      secret: SECRET,
      leaseMs,
      askMs: ASK_MS,
    };
    this.endpoint = createEndpoint(this.server, options);
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
      Promise.all([this.endpoint.close({ deadlineMs: DRAIN_MS }), this.server.drain({ drainMs: DRAIN_MS })])
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
