// A process of the crash test, which is killed at any moment: a publisher, a worker, a receiver, or a follower. It is bundled before it runs.

import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { lmdbStore } from '../../../src/adapters/lmdb/store.js';
import { nats } from '../../../src/adapters/nats/cluster/cluster.js';
import { postgres } from '../../../src/adapters/postgres/cluster.js';
import { redis } from '../../../src/adapters/redis/cluster.js';
import type { JsonObject } from '../../../src/jsonrpc/message.js';
import { readSecret, verifyWebhook, webhookKey } from '../../../src/protocol/events/signature.js';
import type { Bus } from '../../../src/state/bus.js';
import type { Cluster } from '../../../src/state/cluster.js';
import type { Store } from '../../../src/state/store.js';
import { startWorld, type WebhookWorld } from './webhook-world.js';

/** The engines of the crash test. NATS carries the news of events, which are in a folder of LMDB then. */
export type CrashEngine = 'lmdb' | 'postgres' | 'redis' | 'nats';

/** The plan of a process, as JSON in its argument. */
export interface CrashPlan {
  readonly role: 'publisher' | 'worker' | 'receiver' | 'follower';
  readonly engine: CrashEngine;
  /** The address of the engine, or the folder of LMDB. */
  readonly address: string;
  /** The folder of LMDB if the engine is only a bus. */
  readonly folder?: string | undefined;
  readonly port: number;
  /** The file of the receiver, a line for each event that it has accepted. */
  readonly ledger: string;
  /** The file of the follower, a line for each event in the order of the log. */
  readonly followed: string;
  /** The position after which the follower begins. */
  readonly from: string;
  /** The file of the publisher, a line for each batch that was acknowledged. */
  readonly published: string;
  readonly publisher: string;
  readonly total: number;
  /** The events that a publisher emits at the same time, and the rest after them. */
  readonly batch: number;
  readonly restMs: number;
  readonly secret: string;
}

type Place = Pick<CrashPlan, 'engine' | 'address' | 'folder' | 'port'>;

/** The subscriptions of the crash test, by path: each gets the events of a queue, or all. */
export const crashQueues: Readonly<Record<string, string | undefined>> = {
  '/all': undefined,
  '/even': 'even',
  '/odd': 'odd',
  '/all-again': undefined,
};

/** The events that a publisher emits before the first have arrived. Its parent sends it later limits, so that deliveries are killed, too. */
export const CRASH_LEAD = 2000;

const NEWS = 'crash-test';

interface CrashState {
  readonly store: Store;
  readonly bus?: Bus;
  readonly close: () => Promise<void>;
}

/** Opens the store of an engine, and its bus. An engine that was killed may be away. */
async function openState({ engine, address, folder }: Place): Promise<CrashState> {
  if (engine === 'lmdb') {
    const store = lmdbStore(address);
    return { store, close: () => store.close() };
  }
  const makers = { postgres, redis, nats } as const;
  for (;;) {
    const cluster: Cluster = makers[engine]({ url: address });
    try {
      await cluster.start();
      const { bus } = cluster;
      if (engine !== 'nats') return { store: cluster.store as Store, bus, close: () => cluster.close() };
      const store = lmdbStore(String(folder));
      return { store, bus, close: async () => void (await Promise.all([store.close(), cluster.close()])) };
    } catch {
      await cluster.close().catch(() => undefined);
      await delay(50);
    }
  }
}

/** A world of the crash test. */
export interface CrashWorld extends Omit<WebhookWorld, 'emit'> {
  /** Emits events in one write. */
  readonly emit: (events: readonly CrashEvent[]) => Promise<void>;
}

interface CrashEvent {
  readonly eventId: string;
  readonly data: JsonObject;
}

/** A world of the crash test, whose end closes its store, too. Its leases end soon, and its retries never do. */
export async function crashWorld(place: Place): Promise<CrashWorld> {
  const { store, bus, close } = await openState(place);
  const world = await startWorld({
    store,
    secrets: ['c'.repeat(40)],
    leaseMs: 1500,
    options: { privateHosts: [`http://127.0.0.1:${place.port}`] },
    times: { retryInMs: (failures) => Math.min(1000, 50 * 2 ** failures) },
  });
  const { onEvents } = world.hooks;
  await bus?.subscribe(NEWS, { message: onEvents, gap: onEvents }).catch(() => undefined);
  return {
    ...world,
    async emit(events) {
      const history = await world.history();
      const timestamp = new Date().toISOString();
      await history.append(
        events.map((event) => ({ ...event, timestamp })),
        world.hooks.changes(history.group),
      );
      world.hooks.onEvents();
      // The news may be lost, the event may not.
      void bus?.publish(NEWS, {}).catch(() => undefined);
    },
    async close(drainMs) {
      await world.close(drainMs);
      await close();
    },
  };
}

/** Makes or refreshes all subscriptions, as their clients do. */
export async function subscribeAll(
  { subscribe }: Pick<WebhookWorld, 'subscribe'>,
  { port, secret }: Pick<CrashPlan, 'port' | 'secret'>,
): Promise<void> {
  for (const [path, queue] of Object.entries(crashQueues)) {
    const url = `http://127.0.0.1:${port}${path}`;
    await subscribe('ann', {
      ...{ name: 'ticket', delivery: { url, secret } },
      arguments: queue === undefined ? {} : { queue },
    });
  }
}

async function publish(plan: CrashPlan): Promise<void> {
  let limit = CRASH_LEAD;
  process.on('message', (allowed: number) => {
    limit = allowed;
  });
  const { emit } = await crashWorld(plan);
  const { published, publisher, total, batch, restMs } = plan;
  const lines = existsSync(published) ? readFileSync(published, 'utf8').split('\n') : [];
  const last = lines.filter((line) => line.startsWith(`${publisher} `)).at(-1);
  for (let first = Number(last?.split(' ')[1] ?? 0); first < total; ) {
    if (first >= limit) {
      await delay(20);
      continue;
    }
    const end = Math.min(first + batch, total);
    const [one, ...others] = Array.from({ length: end - first }, (_, at) => eventOf(publisher, first + at));
    // As in a server, those that are emitted while another is written are one write. The id is that of the source: an event whose
    // acknowledgement was lost is emitted again under it.
    const results = await Promise.allSettled([emit([one as CrashEvent]), emit(others)]);
    if (results.some(({ status }) => status === 'rejected')) {
      await delay(20);
      continue;
    }
    appendFileSync(published, `${publisher} ${end}\n`);
    first = end;
    if (restMs > 0) await delay(restMs);
  }
  process.send?.('done');
}

function eventOf(publisher: string, n: number): CrashEvent {
  const data = { queue: n % 2 === 0 ? 'even' : 'odd', what: `${publisher} ${n}` };
  return { eventId: `${publisher}-${n}`, data };
}

/** Reads the log from its beginning. Its position is in the same line as the event, so that neither is without the other. */
async function follow(plan: CrashPlan): Promise<void> {
  const { history } = await crashWorld(plan);
  const log = await history();
  const lines = existsSync(plan.followed) ? readFileSync(plan.followed, 'utf8').trim().split('\n') : [];
  let after = log.positionOf(lines.at(-1)?.split('\t')[1] ?? plan.from);
  for (;;) {
    try {
      const page = await log.read(after as NonNullable<typeof after>, 100);
      if (page.isTruncated) appendFileSync(plan.followed, `gap\t${log.cursorOf(page.next)}\n`);
      const text = page.events.map(({ eventId, position }) => `${eventId}\t${log.cursorOf(position)}\n`);
      appendFileSync(plan.followed, text.join(''));
      after = page.next;
      if (text.length === 0) await delay(50);
    } catch {
      await delay(50);
    }
  }
}

async function work(plan: CrashPlan): Promise<void> {
  const world = await crashWorld(plan);
  for (;;) {
    await delay(700);
    // A subscription that was suspended while the receiver was dead continues.
    await subscribeAll(world, plan).catch(() => undefined);
  }
}

async function receive({ port, ledger, secret }: CrashPlan): Promise<void> {
  const key = await webhookKey(readSecret(secret) as Uint8Array<ArrayBuffer>);
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', async () => {
      const body = new Uint8Array(Buffer.concat(chunks));
      const id = String(request.headers['webhook-id']);
      const timestamp = Number(request.headers['webhook-timestamp']);
      const signature = String(request.headers['webhook-signature']);
      const isGenuine = await verifyWebhook({ id, timestamp, body }, signature, [key]);
      const message = JSON.parse(Buffer.from(body).toString());
      if (message.type === 'verification')
        return response.end(JSON.stringify({ challenge: message.challenge }));
      if (Math.random() < 0.05) return response.writeHead(503).end();
      const what = message.type ?? message.data.what;
      appendFileSync(ledger, `${request.url}\t${id}\t${message.eventId}\t${what}\t${isGenuine}\n`);
      // Accepted, and the sender does not learn it.
      if (Math.random() < 0.03) return request.socket.destroy();
      return response.writeHead(204).end();
    });
  });
  server.listen(port, '127.0.0.1');
}

if (process.env['CRASH_PLAN'] !== undefined) {
  const plan = JSON.parse(process.env['CRASH_PLAN']) as CrashPlan;
  const roles = { publisher: publish, worker: work, receiver: receive, follower: follow };
  await roles[plan.role](plan);
}
