import { connect } from 'fullmcp/client';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { callText } from '../../support/http/modern.js';
import { openSession } from '../../support/http/sessions.js';
import { soon, until } from '../../support/until.js';
import { type Balancer, startBalancer } from './balancer.js';
import { killAll, type Served, start } from './processes.js';

afterAll(killAll);
vi.setConfig({ testTimeout: 120_000 });

/** Long enough for the balancer to notice, on a busy machine too. */
const DELAY_MS = 3000;
const CLIENTS = 6;

interface Load {
  readonly served: Map<string, number>;
  readonly problems: string[];
  readonly end: () => Promise<void>;
}

/** Calls without a pause, half of them in each era. */
function load(url: string): Load {
  const served = new Map<string, number>();
  const problems: string[] = [];
  let isOver = false;

  async function repeat(call: () => Promise<string>): Promise<void> {
    while (!isOver) {
      const name = await call().catch((error: unknown) => {
        problems.push(String(error));
        return 'nobody';
      });
      served.set(name, (served.get(name) ?? 0) + 1);
    }
  }

  async function modernClient(): Promise<void> {
    await repeat(() => callText(url, 'who'));
  }

  async function sessionClient(): Promise<void> {
    const session = await openSession(url);
    await repeat(async () => {
      const { text } = await session.request('tools/call', { name: 'who', arguments: {} });
      return JSON.parse(text).result.content[0].text as string;
    });
  }

  const clients = Array.from({ length: CLIENTS }, (_, at) => (at % 2 ? modernClient() : sessionClient()));
  return {
    served,
    problems,
    async end() {
      isOver = true;
      await Promise.all(clients);
    },
  };
}

async function replace(balancer: Balancer, old: Served, name: string): Promise<Served> {
  const next = await start({ name, shutdownDelayMs: DELAY_MS });
  balancer.add(next.url);
  old.child.kill('SIGTERM');
  expect(await soon('The end of the old process', old.exit, 60_000)).toEqual([0, null]);
  return next;
}

describe('a process behind a balancer that asks for its readiness', () => {
  test('is replaced under load without a call that is lost or refused, in both eras', async () => {
    const balancer = await startBalancer();
    let current = await start({ name: 'first', shutdownDelayMs: DELAY_MS });
    balancer.add(current.url);
    const { served, problems, end } = load(balancer.url);
    for (const name of ['second', 'third']) {
      const before = current;
      await until('the old process serves', () => served.size > 0, 60_000);
      current = await replace(balancer, before, name);
      await until('the new process serves', () => served.has(name), 60_000);
    }
    await end();
    await balancer.close();
    current.child.kill('SIGTERM');
    await current.exit;
    expect({ problems, failures: balancer.failures }).toEqual({ problems: [], failures: [] });
    expect([...served.keys()].sort()).toEqual(['first', 'second', 'third']);
    console.log('calls:', Object.fromEntries(served));
  });

  test.each([undefined, '2025-11-25'] as const)(
    'leaves its clients to the next one: revision %s',
    async (revision) => {
      const balancer = await startBalancer();
      const first = await start({ name: 'first', shutdownDelayMs: DELAY_MS });
      balancer.add(first.url);
      await using client = await connect(balancer.url, revision === undefined ? {} : { revision });
      await using changes = await client.subscribe('test://news');
      const updates = changes[Symbol.asyncIterator]();
      await client.callTool('announce');
      expect((await soon('The first change', updates.next(), 60_000)).done).toBe(false);
      const second = await replace(balancer, first, 'second');
      // Without a cluster, the second process does not know what the session of an older client has subscribed to.
      if (revision === undefined) {
        // The client cannot know what it missed, so the resource counts as changed.
        expect((await soon('The change after the gap', updates.next(), 60_000)).done).toBe(false);
        await client.callTool('announce');
        expect((await soon('The change of the second process', updates.next(), 60_000)).done).toBe(false);
      }
      expect((await client.callTool('who')).text).toBe('second');
      await balancer.close();
      second.child.kill('SIGTERM');
      await second.exit;
    },
  );
});
