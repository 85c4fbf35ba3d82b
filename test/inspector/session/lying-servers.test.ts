import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Target } from '../../../src/connect/targets/target.js';
import { type Rig, rig } from './rig.js';

// Servers that lie, flood and die. The inspector stays usable, and says what happened.

const script = fileURLToPath(new URL('fixtures/lying-server.js', import.meta.url));
const liar = (): Target => ({ command: process.execPath, args: [script] });

let own: Rig;
let id: string;
beforeAll(async () => {
  own = rig();
  id = await own.connect({ target: liar(), options: { revision: '2025-11-25' } });
});
afterAll(() => own[Symbol.asyncDispose]());

const call = async (tool: string) => (await own.run('call', { connection: id, tool, args: {} })).story;

test('responses with wrong ids belong to no call, and are reported', async () => {
  const ended = await own.ended(await call('wrong-ids'));
  expect(ended).toMatchObject({ state: 'ok', outcome: { content: [{ text: 'the first' }] } });
  expect(ended.rounds).toHaveLength(1);
  const { stories, messages } = own.inspector.snapshot();
  const stray = stories.find(({ kind }) => kind === 'unsolicited');
  expect(messages.filter(({ story }) => story === stray?.id).length).toBeGreaterThanOrEqual(3);
  expect(own.inspector.snapshot().logs.some(({ source }) => source === 'problem')).toBe(true);
});

test('a result of 50 MB works, and does not travel with every event', async () => {
  const story = await call('huge');
  const ended = await own.ended(story);
  expect(ended.state).toBe('ok');
  expect(ended.outcome).toBeUndefined();
  expect(ended.outcomeBytes).toBeGreaterThan(50 * 1024 * 1024);
  expect(own.inspector.outcome(story)?.length).toBeGreaterThan(50 * 1024 * 1024);
  const last = own.inspector.message(ended.lastMessage ?? 0);
  expect(last?.isCut).toBe(true);
  expect(last?.text.length).toBe(1_000_000);
  expect(own.inspector.tape(id)).toContain('too large for a tape');
  expect(JSON.stringify(own.inspector.snapshot()).length).toBeLessThan(3_000_000);
});

test('a result that is larger than the limit fails with a sentence', async () => {
  const ended = await own.ended(await call('larger'));
  expect(ended).toMatchObject({ state: 'error', error: { code: 'bad_response' } });
  expect(ended.error?.message).toContain('67108864 bytes');
});

test('100,000 notifications leave the latest ticks, bounded messages, and few events', async () => {
  const before = own.events.length;
  const ended = await own.ended(await call('flood'));
  expect(ended.state).toBe('ok');
  expect(ended.ticks).toHaveLength(200);
  expect(ended.droppedTicks).toBe(100_000 - 200);
  expect(ended.progress).toEqual({ progress: 99_999, message: 'step 99999' });
  const snapshot = own.inspector.snapshot();
  expect(snapshot.messages.length).toBe(20_000);
  // One event for up to 500 messages, and one with the state of the call in each frame. A busy machine has more frames.
  const events = own.events.slice(before);
  expect(events.length).toBeLessThan(100_000 / 10);
  expect(events.filter(({ type }, at) => type === 'story' && events[at - 1]?.type === 'story')).toEqual([]);
  // A page that was away for this has to take a new snapshot.
  expect(own.inspector.eventsAfter(1)).toBeUndefined();
  expect(own.inspector.eventsAfter(snapshot.seq)).toEqual([]);
});

test('logs and stderr are kept within bounds, and are ticks of the only call', async () => {
  const ended = await own.ended(await call('logs'));
  expect(ended.ticks.some(({ kind }) => kind === 'log')).toBe(true);
  expect(own.inspector.snapshot().logs.length).toBeLessThanOrEqual(5000);
});

test('junk is shown for what it is', async () => {
  const ended = await own.ended(await call('junk'));
  expect(ended.state).toBe('ok');
  const texts = own.inspector.snapshot().stories.flatMap(({ ticks }) => ticks.map(({ text }) => text));
  for (const text of texts)
    for (const hidden of ['\u0000', '\u001b', '\u202e']) expect(text).not.toContain(hidden);
  expect(own.connection(id)?.status).toBe('ready');
});

test('a question is gone when the server dies, the call says why, and the connection opens again', async () => {
  const story = await call('dies-asking');
  const { id: question } = await own.question(story);
  const ended = await own.ended(story);
  expect(ended).toMatchObject({ state: 'error', error: { code: 'connection_closed' } });
  expect(ended.questions[0]?.gone).toBeTypeOf('string');
  await expect(
    own.run('answer', { story, question, answer: { action: 'accept', content: { name: 'Ada' } } }),
  ).rejects.toThrow('no longer');
  await own.until(
    'the next connection',
    () => own.connection(id)?.status === 'ready' && own.connection(id)?.reconnects === 1,
  );
  expect((await own.ended(await call('ok'))).state).toBe('ok');
});

test('a process that ends says how, with its last lines', async () => {
  const ended = await own.ended(await call('dies'));
  expect(ended.error?.message).toContain('exit code 3');
  expect(ended.error?.output?.cause).toContain('Cannot find module zod');
  await own.until(
    'the next connection',
    () => own.connection(id)?.status === 'ready' && own.connection(id)?.reconnects === 2,
  );
  const connects = own.inspector.snapshot().stories.filter(({ kind }) => kind === 'connect');
  expect(connects.map(({ state }) => state)).toEqual(['ok', 'ok', 'ok']);
});

test('two questions with one id are one question after the other', async () => {
  const story = await call('asks-twice');
  await own.question(story);
  await own.run('stop', { story });
  const ended = await own.ended(story);
  for (const question of ended.questions) expect(question.gone ?? question.answeredAt).toBeDefined();
});

test('a question that could belong to two calls is in both, and can be answered in the one that did not ask', async () => {
  await using other = rig();
  const connection = await other.connect({ target: liar(), options: { revision: '2025-11-25' } });
  const { story } = await other.run('call', { connection, tool: 'hang', args: {} });
  const asking = (await other.run('call', { connection, tool: 'dies-asking', args: {} })).story;
  const { id: question, mayBeOf } = await other.question(story);
  expect(mayBeOf?.map((call) => call.story)).toEqual([story, asking]);
  await other.run('answer', { story, question, answer: { action: 'decline' } });
  await other.until('the answer', () => other.story(story).state === 'running');
});

test('calls that run when the connection is closed end, and nothing is left', async () => {
  const other = rig();
  const connection = await other.connect({ target: liar(), options: { revision: '2025-11-25' } });
  const stories = await Promise.all(
    ['hang', 'hang', 'slow', 'dies-asking'].map(
      async (tool) => (await other.run('call', { connection, tool, args: {} })).story,
    ),
  );
  await other.run('disconnect', { connection });
  expect(other.inspector.snapshot()).toMatchObject({ connections: [], stories: [], messages: [] });
  for (const story of stories) await expect(other.run('stop', { story })).rejects.toThrow('no call');
  await other.inspector.close();
});

test('closing the inspector while everything happens ends it all', async () => {
  const other = rig();
  const connection = await other.connect({ target: liar(), options: { revision: '2025-11-25' } });
  for (const tool of ['hang', 'flood', 'dies-asking', 'huge'])
    await other.run('call', { connection, tool, args: {} });
  void other.run('reconnect', { connection });
  void other.run('reconnect', { connection });
  await other.inspector.close();
  await expect(other.raw('ping', { connection })).rejects.toThrow('closed');
});

test('a command that does not start says so', async () => {
  const failed = await own.connect({ target: { command: 'no-such-program-at-all' } });
  expect(own.connection(failed)).toMatchObject({ status: 'failed', failure: { code: 'connect_failed' } });
  expect(own.connection(failed)?.steps[0]).toMatchObject({
    what: 'start no-such-program-at-all',
    outcome: 'failed',
  });
});

test('a program that exits says its code', async () => {
  const failed = await own.connect({
    target: { command: process.execPath, args: ['-e', 'console.error("broken"); process.exit(7)'] },
  });
  expect(own.connection(failed)).toMatchObject({ status: 'failed', process: { exit: 'code 7' } });
  expect(own.connection(failed)?.failure).toMatchObject({
    message: expect.stringMatching(/has ended with exit code 7\.$/),
    output: { cause: 'broken', lines: expect.arrayContaining(['broken']), earlier: [] },
  });
});

test('a wrong path suggests the right one', async () => {
  const { serve } = await import('../../../src/node.js');
  const { createServer, tool } = await import('fullmcp');
  const serving = await serve(
    createServer({ name: 'a', version: '1.0.0', tools: { a: tool({ run: () => 'a' }) } }),
    {
      port: 0,
      signals: false,
    },
  );
  const failed = await own.connect({ target: serving.url.replace('/mcp', '/wrong') });
  expect(own.connection(failed)).toMatchObject({ status: 'failed', suggestion: serving.url });
  const steps = own.connection(failed)?.steps ?? [];
  expect(steps.length).toBeGreaterThan(1);
  expect(steps[0]).toMatchObject({
    what: 'POST /wrong server/discover',
    outcome: 'failed',
    detail: '404 Not Found',
  });
  await serving.close();
  const nobody = await own.connect({ target: serving.url });
  expect(own.connection(nobody)).toMatchObject({ status: 'failed', failure: { code: 'connect_failed' } });
  // It can be tried again under the same id.
  await own.run('reconnect', { connection: nobody });
  await own.until('another failure', () => own.connection(nobody)?.status === 'failed');
});
