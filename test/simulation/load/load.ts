// The clients of a simulation.

import type { JobArgs } from '../cluster/tools.js';
import { newActor } from '../world/scheduler.js';
import { Client, type ClientParts } from './client.js';
import { runJob } from './job-client.js';
import { pay } from './payment-client.js';
import { Watcher } from './watcher.js';

const WATCH_EVERY_MS = 100;

/** Everything that clients do in a simulation. */
export class Load {
  readonly watchers: Watcher[] = [];
  /** The names of everything that has not ended yet. */
  readonly open = new Set<string>();
  readonly #parts: ClientParts;
  readonly #clients: Client[] = [];

  constructor(parts: ClientParts) {
    this.#parts = parts;
  }

  get running(): number {
    return this.open.size;
  }

  /** Plans the requests of all clients. */
  start(): void {
    const { random, settings } = this.#parts.world;
    for (let n = 1; n <= settings.jobs; n++) {
      const subject = random.pick(['alice', 'bob', undefined]);
      this.#begin(`job ${n}`, subject, (client) => {
        if (random.chance(0.5)) this.#watch(client);
        return runJob(client, this.#jobArgs(`job ${n}`));
      });
    }
    for (let n = 1; n <= settings.payments; n++) {
      const id = `payment ${n}`;
      this.#begin(id, 'alice', (client) => pay(client, id));
      // Another program of the same caller has the same order to pay.
      if (random.chance(0.2)) this.#begin(`${id} again`, 'alice', (client) => pay(client, id));
    }
  }

  /** Ends all clients. */
  stop(): void {
    for (const { actor } of this.#clients) this.#parts.world.scheduler.kill(actor);
  }

  #begin(name: string, subject: string | undefined, work: (client: Client) => Promise<void>): void {
    const { world } = this.#parts;
    const client = new Client(this.#parts, newActor(name), subject);
    this.#clients.push(client);
    this.open.add(name);
    world.scheduler.after(world.random.between(0, world.settings.faultsMs / 2), client.actor, () => {
      void work(client).then(() => {
        world.note(() => 'done');
        this.open.delete(name);
      });
    });
  }

  /** Watches the tasks of a client, once it has one. */
  #watch(client: Client): void {
    const { world } = this.#parts;
    const own = new Client(this.#parts, newActor(`watcher of ${client.actor.name}`), client.subject);
    this.#clients.push(own);
    const watcher = new Watcher(own);
    this.watchers.push(watcher);
    const begin = (): void => {
      const taskIds = [...client.known.keys()];
      if (taskIds.length > 0) void watcher.watch(taskIds);
      else if (this.open.has(client.actor.name)) world.scheduler.after(WATCH_EVERY_MS, own.actor, begin);
    };
    world.scheduler.after(WATCH_EVERY_MS, own.actor, begin);
  }

  #jobArgs(id: string): JobArgs {
    const { random } = this.#parts.world;
    const steps = random.whole(1, 4);
    return {
      id,
      steps,
      askAt: random.whole(0, steps),
      questions: random.pick([1, 1, 2]),
      branches: random.pick([1, 1, 1, 2]),
      isBusy: random.chance(0.1),
    };
  }
}
