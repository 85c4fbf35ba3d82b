// A client of 2025-11-25: opens a session, sets a log level, subscribes, makes calls that ask, and ends the session.

import type { ConsultArgs, JobArgs } from '../../cluster/tools.js';
import type { Client } from '../client.js';
import { pauseBeforeRetry, Session } from './session.js';
import { SessionCall } from './session-call.js';
import { SessionJob } from './session-job.js';
import { SessionListener } from './session-listener.js';

/** Enough for all replicas, because the balancer takes turns. */
const VISITS = 5;

/** A client with one session. */
export class SessionClient {
  readonly client: Client;
  session: Session | undefined;

  constructor(client: Client) {
    this.client = client;
  }

  /** Runs the session from its start to its end. */
  async run(calls: readonly ConsultArgs[], jobs: readonly JobArgs[]): Promise<void> {
    const { random } = this.client.world;
    const session = await Session.open(this.client);
    this.session = session;
    const listener = random.chance(0.5) ? new SessionListener(session) : undefined;
    if (listener !== undefined) {
      const listening = listener.listen();
      void listening;
      await pauseBeforeRetry(this.client);
      if (random.chance(0.5)) await listener.subscribe();
    }
    if (random.chance(0.5)) await this.#setLevel(session);
    const work = [
      ...calls.map((args) => () => new SessionCall(session, args)),
      ...jobs.map((args) => () => new SessionJob(session, args)),
    ];
    const running = work.map(async (make) => {
      await this.client.world.sleep(random.between(0, 8000));
      await make().run();
    });
    if (random.chance(0.1)) void this.client.world.sleep(random.between(0, 20_000)).then(() => session.end());
    await Promise.all(running);
    if (random.chance(0.4) && !session.isEnding) await session.end();
  }

  /** Checks that every replica knows whether the session has ended. */
  async visit(): Promise<void> {
    const { session } = this;
    if (session === undefined || (session.isEnding && !session.hasEnded)) return;
    const { ledger, actor } = this.client;
    for (let visits = 0; visits < VISITS; visits++) {
      const reply = await session.post({ id: session.nextId(), method: 'ping' });
      if (session.hasEnded && 'status' in reply && reply.status === 200)
        ledger.violate('session not ended', `${actor.name} was served`);
    }
  }

  async #setLevel(session: Session): Promise<void> {
    const { world } = this.client;
    const level = world.random.pick(['debug', 'error']);
    const message = { id: session.nextId(), method: 'logging/setLevel', params: { level } };
    const { body } = await session.deliver(message);
    if (body?.includes('"result"')) session.level = { name: level, since: world.scheduler.now };
  }
}
