import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWithPostgres, startPostgres } from '../../support/engines/postgres.js';
import { describeWithRedis, startRedis } from '../../support/engines/redis.js';
import type { Events } from '../../support/http/http.js';
import { openSession, type SessionClient, sessionClient } from '../../support/http/sessions.js';
import { ended } from '../../support/processes.js';
import { until } from '../../support/until.js';

// Sessions on real processes that share a real engine, and are killed.

// biome-ignore lint/suspicious/noExplicitAny: what a peer sent, to be matched against
type Message = Record<string, any>;

interface Process {
  readonly url: string;
  readonly child: ChildProcess;
}

const script = fileURLToPath(new URL('./replica.mjs', import.meta.url));
const can = { elicitation: {} };
/** A process counts as dead after 15 s, and others look every 5 s. */
const DEATH_MS = 60_000;

async function start(clusterUrl: string): Promise<Process> {
  const child = spawn(process.execPath, [script], {
    env: {
      ...process.env,
      PORT: '0',
      MCP_CLUSTER_URL: clusterUrl,
      MCP_SECRET: 'the secret that all processes of this test have',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    once(child, 'exit').then(([code]) => Promise.reject(new Error(`The server ended at once, with ${code}`))),
  ])) as [string];
  return { url: line, child };
}

async function next(events: Events): Promise<{ id: string | undefined; message: Message }> {
  for (;;) {
    const event = await events.next();
    if (event === undefined) throw new Error('The stream has ended');
    const message = event.data === '' ? undefined : (JSON.parse(event.data) as Message);
    if (message !== undefined && message['method'] !== 'notifications/progress')
      return { id: event.id, message };
  }
}

const accept = (id: unknown, content: object): object => ({
  jsonrpc: '2.0',
  id,
  result: { action: 'accept', content },
});
const order = { name: 'order', _meta: { progressToken: 1 } };

function suite(engine: () => Promise<{ readonly url: string; readonly stop: () => Promise<unknown> }>): void {
  let stop: () => Promise<unknown>;
  let url: string;
  const running: Process[] = [];

  beforeAll(async () => {
    ({ url, stop } = await engine());
  }, 60_000);

  afterAll(async () => {
    await Promise.all(running.map(({ child }) => ended(child, () => child.kill('SIGKILL'))));
    await stop();
  }, 60_000);

  async function two(
    revision: string,
  ): Promise<{ processes: [Process, Process]; a: SessionClient; b: SessionClient }> {
    const processes: [Process, Process] = [await start(url), await start(url)];
    running.push(...processes);
    const a = await openSession(processes[0].url, revision, can);
    return { processes, a, b: sessionClient(processes[1].url, a.id) };
  }

  test.each(['2025-11-25', '2025-06-18', '2025-03-26'])(
    'a question of %s is answered at another process, after the one that asked was killed',
    async (revision) => {
      const { processes, a, b } = await two(revision);
      const events = await a.stream('tools/call', order);
      const first = await next(events);
      expect((await b.post(accept(first.message['id'], { name: 'Ada' }))).status).toBe(202);
      const second = await next(events);
      expect(second.message['params'].message).toBe('Sure, Ada?');
      processes[0].child.kill('SIGKILL');
      // The client did not get the second question, as far as it knows.
      const again = await b.resume(String(first.id));
      expect((await next(again)).message).toEqual(second.message);
      expect((await b.post(accept(second.message['id'], { sure: true }))).status).toBe(202);
      expect((await next(again)).message).toMatchObject({
        id: 1,
        result: { content: [{ text: 'Ada: true' }] },
      });
      expect(await again.rest()).toEqual([]);
    },
    60_000,
  );

  test(
    'a call whose process was killed gets an error, and log level and end of the session are known to both',
    async () => {
      const { processes, a, b } = await two('2025-11-25');
      await a.request('logging/setLevel', { level: 'error' });
      await until('the other process knows the level', async () => {
        const { text } = await b.request('tools/call', { name: 'talk' });
        return text.includes('"error"') && !text.includes('"info"');
      });
      const events = await a.stream('tools/call', { name: 'hang', _meta: { progressToken: 1 } });
      const { id } = (await events.next()) ?? {};
      processes[0].child.kill('SIGKILL');
      let received: Message | undefined;
      await until(
        'the client has the error',
        async () => {
          const again = await b.resume(String(id));
          const rest = await Promise.race([
            again.rest(),
            new Promise<never[]>((done) => setTimeout(done, 5000, [])),
          ]);
          again.drop();
          received = rest
            .map(({ data }) => (data === '' ? {} : JSON.parse(data)))
            .find((message) => message.id === 1);
          return received !== undefined;
        },
        DEATH_MS,
      );
      expect(received?.['error'].message).toContain('unknown what the call has done');
      const third = await start(url);
      running.push(third);
      const c = sessionClient(third.url, a.id);
      expect((await c.request('ping')).status).toBe(200);
      expect((await b.end()).status).toBe(200);
      await until('the third process knows', async () => (await c.request('ping')).status === 404);
    },
    2 * DEATH_MS,
  );
}

describeWithRedis('sessions on processes that share Redis', () => {
  suite(async () => {
    const server = await startRedis();
    return { url: server.url, stop: () => server.stop() };
  });
});

describeWithPostgres('sessions on processes that share Postgres', () => {
  suite(async () => {
    const server = await startPostgres();
    return { url: server.url, stop: () => server.stop() };
  });
});
