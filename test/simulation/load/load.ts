// The clients of a simulation.

import type { ConsultArgs, JobArgs } from '../cluster/tools.js';
import { newActor } from '../world/scheduler.js';
import { Client, type ClientParts } from './client.js';
import { consult } from './consult-client.js';
import { follow, publish } from './event-clients.js';
import { intrude } from './intruder.js';
import { runJob } from './job-client.js';
import { pay } from './payment-client.js';
import { SessionClient } from './sessions/session-client.js';
import { Watcher } from './watcher.js';

const WATCH_EVERY_MS = 100;
const KNOCK_MS = 1000;

/** Everything that clients do in a simulation. */
export class Load {
  readonly watchers: Watcher[] = [];
  /** The names of everything that has not ended yet. */
  readonly open = new Set<string>();
  readonly #parts: ClientParts;
  readonly #clients: Client[] = [];
  readonly #sessions: SessionClient[] = [];

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
      // Another program of the same caller has the same order to pay, or another caller uses the same key.
      if (random.chance(0.2)) this.#begin(`${id} again`, 'alice', (client) => pay(client, id));
      if (random.chance(0.2)) this.#begin(`${id} of bob`, 'bob', (client) => pay(client, id));
    }
    for (let n = 1; n <= settings.consultations; n++)
      this.#begin(`call ${n}`, random.pick(['alice', 'bob', undefined]), (client) => {
        if (random.chance(0.3)) this.#listen(client);
        return consult(client, this.#consultArgs(`call ${n}`, false));
      });
    for (let n = 1; n <= settings.sessions; n++) this.#beginSession(`session ${n}`);
    if (random.chance(0.3)) this.#begin('intruder', 'mallory', intrude);
    const { events, followers } = settings;
    for (let n = 1; n <= followers; n++)
      this.#begin(`follower ${n}`, undefined, (client) => follow(client, random.pick(['poll', 'stream'])));
    for (let n = 1; n <= 2 && events > 0; n++)
      this.#begin(`publisher ${n}`, 'alice', (client) => publish(client, events, followers));
  }

  /** Lets the clients of sessions check that they are known, or have ended, everywhere. False if there are none. */
  visit(): boolean {
    for (const session of this.#sessions) {
      const { actor } = session.client;
      const name = `visit of ${actor.name}`;
      this.open.add(name);
      this.#parts.world.scheduler.after(0, actor, () => {
        void session.visit().then(() => this.open.delete(name));
      });
    }
    return this.#sessions.length > 0;
  }

  /** Sends a request of a session, so that the replica looks after the calls of sessions. */
  knock(): void {
    const { world, network } = this.#parts;
    const headers = { 'mcp-session-id': 'unknown' };
    void network.fetch(world.fate, { method: 'GET', headers, subject: undefined, timeoutMs: KNOCK_MS });
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

  #beginSession(name: string): void {
    const { random } = this.#parts.world;
    this.#begin(name, random.pick(['alice', 'bob', undefined]), (client) => {
      const session = new SessionClient(client);
      this.#sessions.push(session);
      const calls = Array.from({ length: random.whole(1, 3) }, (_, n) =>
        this.#consultArgs(`${name} call ${n + 1}`, random.chance(0.5)),
      );
      const jobs = random.chance(0.3) ? [this.#jobArgs(`${name} job`)] : [];
      return session.run(calls, jobs);
    });
  }

  /** Listens to changes, as the caller of a client. */
  #listen(client: Client): void {
    const own = new Client(this.#parts, newActor(`listener of ${client.actor.name}`), client.subject);
    this.#clients.push(own);
    this.#parts.world.scheduler.after(0, own.actor, () => void new Watcher(own).watch([]));
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

  #consultArgs(id: string, isLoud: boolean): ConsultArgs {
    const { random } = this.#parts.world;
    return { id, parts: random.whole(1, 3), questions: random.pick([1, 1, 2]), isLoud };
  }
}
