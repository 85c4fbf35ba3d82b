import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent } from 'node:http';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Events, send } from '../../support/http/http.js';
import { modern, modernExchange } from '../../support/http/modern.js';
import { printPost, rawSocket } from '../../support/http/raw.js';
import { jsonHeaders, openSession, sessionClient } from '../../support/http/sessions.js';
import { until } from '../../support/until.js';

// One server instance under load, in its own process, so that its heap can be measured.

const MB = 1024 * 1024;
let child: ChildProcess;
let url: string;

beforeAll(async () => {
  const file = fileURLToPath(new URL('../fixtures/stress-server.mjs', import.meta.url));
  child = fork(file, { execArgv: ['--expose-gc'] });
  const [ready] = (await once(child, 'message')) as [{ url: string }];
  url = ready.url;
});

afterAll(() => void child.kill('SIGKILL'));

async function ask(question: string): Promise<number> {
  child.send(question);
  for (;;) {
    const [reply] = (await once(child, 'message')) as [{ question: string; answer: number }];
    if (reply.question === question) return reply.answer;
  }
}

async function quiet(): Promise<void> {
  await until('all connections are closed', async () => (await ask('sockets')) === 0, 15_000);
}

interface MeetCall {
  readonly user: string;
  readonly id: number;
  readonly nonce: string;
  readonly streams: boolean;
}

/** Calls from two principals that use the same ids. All calls are open at the same time. */
async function meet(count: number): Promise<string[]> {
  const agent = new Agent({ keepAlive: false, maxSockets: Number.POSITIVE_INFINITY });
  const calls: MeetCall[] = Array.from({ length: count }, (_, at) => ({
    user: at % 2 === 0 ? 'alice' : 'bob',
    id: Math.floor(at / 2),
    nonce: `nonce-${at}-${Math.random()}`,
    streams: at % 10 < 2,
  }));
  const wrong: string[] = [];
  const call = async ({ user, id, nonce, streams }: MeetCall): Promise<void> => {
    const reply = await modern(
      url,
      'tools/call',
      { name: 'meet', arguments: { nonce } },
      { id, agent, headers: { 'x-user': user }, ...(streams && { meta: { progressToken: id } }) },
    );
    const text = `${user} ${nonce}`;
    const messages = streams
      ? [...reply.text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(String(data)))
      : [JSON.parse(reply.text)];
    const expected = [
      ...(streams ? [1, 2].map((progress) => ({ progressToken: id, progress, message: text })) : []),
      { id, text },
    ];
    const actual = messages.map(
      ({ id: answerId, params, result }) => params ?? { id: answerId, text: result?.content[0].text },
    );
    if (reply.status !== 200 || JSON.stringify(actual) !== JSON.stringify(expected))
      wrong.push(`${JSON.stringify(expected)} got ${reply.text}`);
  };
  const pending: Promise<void>[] = [];
  // They arrive in groups, because the system limits new connections; none ends before the last has arrived.
  for (let at = 0; at < count; at += 250) {
    pending.push(...calls.slice(at, at + 250).map(call));
    await until(
      `${pending.length} calls are open`,
      async () => (await ask('waiting')) === pending.length,
      15_000,
    );
  }
  expect(await ask('go')).toBe(count);
  await Promise.all(pending);
  agent.destroy();
  return wrong;
}

test('10,000 concurrent calls of two principals with equal ids each get their own result, and leave no memory behind', async () => {
  expect(await meet(500)).toEqual([]);
  await quiet();
  const before = await ask('heap');
  expect(await meet(10_000)).toEqual([]);
  await quiet();
  // 10,000 calls that left as little as 400 bytes each would be seen.
  await until('the heap is flat', async () => (await ask('heap')) - before < 4 * MB, 10_000);
}, 300_000);

test('3,000 bad requests, a third of them cut off, leave no memory behind, and the server stays ready', async () => {
  const whole = printPost(modernExchange('tools/call', { name: 'meet', arguments: { nonce: 'n' } }));
  const port = Number(new URL(url).port);
  const cut = async (text: string): Promise<void> => {
    const socket = await rawSocket(port);
    await new Promise<void>((resolve) => socket.write(text, () => resolve()));
    socket.destroy();
  };
  const kinds: (() => Promise<unknown>)[] = [
    () => send(url, { headers: jsonHeaders, body: '{"jsonrpc":' }),
    () => send(url, { headers: jsonHeaders, body: '['.repeat(10_000) + ']'.repeat(10_000) }),
    () => sessionClient(url, `forged.${Math.random()}`).request('ping'),
    () => modern(url, 'tools/call', { name: '__proto__' }),
    () => modern(url, 'tools/list', {}, { headers: { host: 'evil.example' } }),
    () => send(url, { method: 'PUT', headers: jsonHeaders, body: '{}' }),
    () => cut(whole.slice(0, -20)),
    () => cut(whole.slice(0, 60)),
    () => cut(whole),
  ];

  async function attack(count: number): Promise<void> {
    for (let at = 0; at < count; at += 90)
      await Promise.all(Array.from({ length: 90 }, (_, of) => kinds[of % kinds.length]?.()));
    await quiet();
    await ask('go');
  }

  await attack(900);
  const before = await ask('heap');
  await attack(3000);
  await until('the heap is flat', async () => (await ask('heap')) - before < MB, 10_000);
  expect((await send(url.replace('/mcp', '/ready'), { method: 'GET' })).status).toBe(200);
}, 60_000);

test('1,000 sessions with open streams are freed when all clients disconnect', async () => {
  async function openMany(count: number): Promise<Events[]> {
    return Promise.all(
      Array.from({ length: count }, async () => {
        const session = await openSession(url);
        const events = await session.get();
        expect((await events.next())?.data).toBe('');
        return events;
      }),
    );
  }

  async function leave(open: readonly Events[]): Promise<void> {
    for (const events of open) events.drop();
    await quiet();
  }

  await leave(await openMany(100));
  const before = await ask('heap');
  const open = await openMany(1000);
  expect(await ask('sockets')).toBeGreaterThanOrEqual(1000);
  const heldBytes = (await ask('heap')) - before;
  // The streams work: each receives a change.
  await ask('change');
  const changes = await Promise.all(open.map(async (events) => (await events.next())?.data));
  expect(new Set(changes)).toEqual(
    new Set(['{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}']),
  );
  await leave(open);
  await until(
    'everything is freed',
    async () => {
      // A new stream makes the event log check its oldest entry.
      await leave(await openMany(1));
      return (await ask('heap')) - before < MB;
    },
    15_000,
  );
  // More was held than may remain, so this test is able to fail.
  expect(heldBytes).toBeGreaterThan(4 * MB);
}, 60_000);
