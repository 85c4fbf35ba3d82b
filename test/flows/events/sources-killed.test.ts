import { type ChildProcess, fork } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createServer, event, inProcess, type ServerOptions } from 'fullmcp';
import { lmdbStore } from 'fullmcp/lmdb';
import { postgres } from 'fullmcp/postgres';
import { redis } from 'fullmcp/redis';
import { afterEach, expect, test } from 'vitest';
import { describeWithPostgres, freshSchema } from '../../support/engines/postgres.js';
import { describeWithRedis, startRedis } from '../../support/engines/redis.js';
import { until } from '../../support/until.js';

// Changes of resources, webhooks of others and schedules, while the processes that have them are killed.

const script = fileURLToPath(new URL('fixtures/source-process.mjs', import.meta.url));
const KILLS = Number(process.env['CRASH_KILLS'] ?? 12);
const WEBHOOKS = 200;
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Two processes, each of which is started again when it was killed. */
class Processes {
  readonly confirmed: string[] = [];
  readonly #running = new Map<string, { readonly child: ChildProcess; port: number }>();
  readonly #args: readonly string[];

  constructor(...args: readonly string[]) {
    this.#args = args;
  }

  start(name: string): void {
    const child = fork(script, [...this.#args, name], {
      execArgv: [],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const running = { child, port: 0 };
    this.#running.set(name, running);
    // A busy engine may refuse a process that starts. It is started again, as a supervisor does.
    child.on('exit', () => {
      if (this.#running.get(name)?.child === child) this.start(name);
    });
    child.on('message', ({ port, changed }: { port?: number; changed?: string }) => {
      if (port !== undefined) running.port = port;
      if (changed !== undefined) this.confirmed.push(changed);
    });
  }

  async kill(name: string): Promise<void> {
    const { child } = this.#running.get(name) as { child: ChildProcess };
    this.#running.delete(name);
    const closed = once(child, 'close');
    child.kill('SIGKILL');
    await closed;
  }

  async killAll(): Promise<void> {
    await Promise.all([...this.#running.keys()].map((name) => this.kill(name)));
  }

  /** Sends a webhook to one process after the other until one accepts it. */
  async send(id: string): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      const running = [...this.#running.values()].filter(({ port }) => port > 0);
      const one = running[attempt % Math.max(1, running.length)];
      if (one !== undefined && (await post(one.port, id)) === 204) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

async function post(port: number, id: string): Promise<number | undefined> {
  const body = JSON.stringify({ id });
  const signature = createHmac('sha256', 'a secret of at least sixteen').update(body).digest('hex');
  const headers = {
    'content-type': 'application/json',
    'x-github-delivery': id,
    'x-hub-signature-256': `sha256=${signature}`,
  };
  return new Promise((resolve) => {
    const sent = request({ port, host: '127.0.0.1', method: 'POST', headers, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.on('error', () => resolve(undefined));
    sent.end(body);
  });
}

interface Told {
  readonly eventId: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A server that only reads. Returns the function that returns everything that each type has told since. */
async function reader(options: Partial<ServerOptions<never, never>>) {
  const any = event({ payload: { type: 'object' } });
  const server = createServer({
    ...{ name: 'sources', version: '1.0.0', logger: () => undefined },
    ...(options as object),
    events: { changed: any, hooked: any, ticked: any },
  });
  closing.push(() => server.close());
  const ask = inProcess(server);
  const names = ['changed', 'hooked', 'ticked'] as const;
  const starts = new Map<string, unknown>();
  for (const name of names) starts.set(name, (await ask('events/poll', { name }))['cursor']);
  return async function read(name: (typeof names)[number]): Promise<readonly Told[]> {
    const told: Told[] = [];
    for (let cursor = starts.get(name); ; ) {
      const page = await ask('events/poll', { name, cursor });
      expect(page['truncated']).toBe(false);
      cursor = page['cursor'];
      told.push(...(page['events'] as Told[]));
      if (page['hasMore'] !== true) return told;
    }
  };
}

async function killAndCheck(read: Awaited<ReturnType<typeof reader>>, processes: Processes): Promise<void> {
  closing.push(() => processes.killAll());
  for (const name of ['p', 'q']) processes.start(name);
  await until('a change is confirmed', () => processes.confirmed.length > 0);
  const sending = Promise.all(
    Array.from({ length: 4 }, async (_, lane) => {
      for (let n = lane; n < WEBHOOKS; n += 4) await processes.send(`delivery-${n}`);
    }),
  );
  for (let kills = 0; kills < KILLS; kills++) {
    const name = kills % 2 === 0 ? 'p' : 'q';
    const before = processes.confirmed.length;
    await until('there is progress', () => processes.confirmed.length > before + Math.random() * 40);
    await processes.kill(name);
    processes.start(name);
  }
  await sending;
  const ticks = (await read('ticked')).length;
  await until('the schedule goes on', async () => (await read('ticked')).length > ticks + 4, 60_000);
  await processes.killAll();

  const changed = (await read('changed')).map(({ data }) => String(data['id']));
  expect(new Set(changed).size).toBe(changed.length);
  const kept = new Set(changed);
  expect(processes.confirmed.filter((id) => !kept.has(id))).toEqual([]);

  const hooked = await read('hooked');
  expect(hooked.map(({ eventId }) => eventId).toSorted()).toEqual(
    Array.from({ length: WEBHOOKS }, (_, n) => `delivery-${n}`).toSorted(),
  );
  for (const { eventId, data } of hooked) expect(data['id']).toBe(eventId);

  const ticked = await read('ticked');
  expect(new Set(ticked.map(({ eventId }) => eventId)).size).toBe(ticked.length);
  const first = Number(ticked[0]?.data['at']);
  expect(ticked.map(({ data }) => [data['at'], data['part']])).toEqual(
    ticked.map((_, n) => [first + 1000 * Math.floor(n / 2), n % 2 === 0 ? 'first' : 'second']),
  );
  // Both events of a moment are of one process, since they are one write.
  for (let n = 0; n < ticked.length; n += 2) expect(ticked[n]?.data['by']).toBe(ticked[n + 1]?.data['by']);
  expect(ticked.length).toBeGreaterThan(6);
}

test('Sources lose no event and tell none twice, although their processes are killed, with LMDB', async () => {
  const path = mkdtempSync(join(tmpdir(), 'fullmcp-sources-'));
  closing.push(() => rmSync(path, { recursive: true, force: true }));
  await killAndCheck(await reader({ store: lmdbStore(path) }), new Processes('lmdb', path));
}, 180_000);

describeWithPostgres('Postgres', (engine) => {
  test('loses no event of a source and tells none twice, although their processes are killed', async () => {
    const [{ url }, schema] = [engine(), freshSchema()];
    await killAndCheck(
      await reader({ cluster: postgres({ url, schema }) }),
      new Processes('postgres', `${url}#${schema}`),
    );
  }, 180_000);
});

describeWithRedis('Redis', () => {
  test('loses no event of a source and tells none twice, although their processes are killed', async () => {
    const engine = await startRedis();
    closing.push(() => engine.stop());
    const { url } = engine;
    await killAndCheck(await reader({ cluster: redis({ url }) }), new Processes('redis', url));
  }, 180_000);
});
