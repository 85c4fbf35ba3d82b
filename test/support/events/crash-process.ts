// A process of the crash test, which is killed at any moment: a publisher, a worker, or a receiver. It is bundled before it runs.

import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { lmdbStore } from '../../../src/adapters/lmdb/store.js';
import { postgres } from '../../../src/adapters/postgres/cluster.js';
import { redis } from '../../../src/adapters/redis/cluster.js';
import { readSecret, verifyWebhook, webhookKey } from '../../../src/protocol/events/signature.js';
import type { Store } from '../../../src/state/store.js';
import { startWorld, type WebhookWorld } from './webhook-world.js';

/** The plan of a process, as JSON in its argument. */
export interface CrashPlan {
  readonly role: 'publisher' | 'worker' | 'receiver';
  readonly engine: 'lmdb' | 'postgres' | 'redis';
  readonly address: string;
  readonly port: number;
  /** The file of the receiver, a line for each event that it has accepted. */
  readonly ledger: string;
  /** The file of the publisher, a line for each event that was acknowledged. */
  readonly published: string;
  readonly publisher: string;
  readonly total: number;
  readonly secret: string;
}

/** The subscriptions of the crash test, by path: each gets the events of a queue, or all. */
export const crashQueues: Readonly<Record<string, string | undefined>> = {
  '/all': undefined,
  '/even': 'even',
  '/odd': 'odd',
  '/all-again': undefined,
};

/** Opens the store of an engine. */
async function openStore({ engine, address }: Pick<CrashPlan, 'engine' | 'address'>): Promise<Store> {
  if (engine === 'lmdb') return lmdbStore(address);
  const cluster = engine === 'postgres' ? postgres({ url: address }) : redis({ url: address });
  await cluster.start();
  return cluster.store as Store;
}

/** A world of the crash test. Its leases end soon, and its retries never do. */
export async function crashWorld(
  plan: Pick<CrashPlan, 'engine' | 'address' | 'port'>,
): Promise<WebhookWorld> {
  return startWorld({
    store: await openStore(plan),
    secrets: ['c'.repeat(40)],
    leaseMs: 1500,
    options: { privateHosts: [`http://127.0.0.1:${plan.port}`] },
    times: { retryInMs: (failures) => Math.min(1000, 50 * 2 ** failures) },
  });
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
  const { emit } = await crashWorld(plan);
  const { published, publisher, total } = plan;
  const lines = existsSync(published) ? readFileSync(published, 'utf8').split('\n') : [];
  const first = lines.filter((line) => line.startsWith(`${publisher} `)).length;
  for (let n = first; n < total; ) {
    try {
      // The id is that of the source: an event whose acknowledgement was lost is emitted again under it.
      await emit({ queue: n % 2 === 0 ? 'even' : 'odd', what: `${publisher} ${n}` }, `${publisher}-${n}`);
      appendFileSync(published, `${publisher} ${n}\n`);
      n++;
    } catch {
      await delay(20);
    }
  }
  process.send?.('done');
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
  const roles = { publisher: publish, worker: work, receiver: receive };
  await roles[plan.role](plan);
}
