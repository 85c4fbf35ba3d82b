import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { replay } from 'fullmcp/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { JsonObject } from '../../../src/jsonrpc/message.js';
import { type Serving, serve } from '../../../src/node.js';
import { ownDemo } from '../../support/examples/demo.js';
import { rig } from './rig.js';

const demo = await ownDemo();

let serving: Serving;
let folder: string;
beforeAll(async () => {
  serving = await serve(demo, { port: 0, signals: false });
  folder = await mkdtemp(join(tmpdir(), 'fullmcp-inspector-'));
});
afterAll(async () => {
  await serving.close();
  await rm(folder, { recursive: true, force: true });
});

describe('a task', () => {
  test('continues when the inspector is closed, and a later one follows it by its id', async () => {
    const taskFile = join(folder, 'tasks.json');
    const first = rig({ taskFile });
    const id = await first.connect({ target: serving.url, address: serving.url });
    const { story } = await first.run('call', { connection: id, tool: 'bake_bread', args: { stepMs: 20 } });
    const task = await first.until('the task', () => first.story(story).task);
    await first.until('it to be kept', () => first.connection(id)?.knownTasks[0]?.id === task.id);
    await first.question(story);
    await first.inspector.close();
    // Only ids, names and times are in the file.
    const kept = JSON.parse(await readFile(taskFile, 'utf8')) as JsonObject;
    expect(kept).toEqual({
      version: 1,
      servers: { [serving.url]: [{ id: task.id, tool: 'bake_bread', at: expect.any(Number) }] },
    });

    await using second = rig({ taskFile });
    const again = await second.connect({ target: serving.url, address: serving.url });
    await second.until('the kept task', () => second.connection(again)?.knownTasks[0]?.id === task.id);
    const followed = await second.run('followTask', { connection: again, task: task.id });
    const question = await second.question(followed.story);
    expect(second.story(followed.story)).toMatchObject({ kind: 'task', title: 'bake_bread', state: 'asks' });
    await second.run('answer', {
      story: followed.story,
      question: question.id,
      answer: { action: 'accept', content: { crust: 'dark' } },
    });
    const ended = await second.ended(followed.story);
    expect(ended).toMatchObject({ state: 'ok', task: { id: task.id, status: 'completed' } });
    expect(JSON.stringify(ended.outcome)).toContain('A dark bread');
    // Polls are counted, and are not rounds.
    expect(ended.task?.polls).toBeGreaterThan(0);
    expect(ended.rounds).toEqual([]);
  });

  test.each(['2026-07-28', '2025-11-25'] as const)(
    'is cancelled at the server when it is stopped, %s',
    async (revision) => {
      await using own = rig();
      const id = await own.connect({ target: serving.url, options: { revision } });
      const { story } = await own.run('call', {
        connection: id,
        tool: 'bake_bread',
        args: { stepMs: 2000 },
        asTask: true,
      });
      await own.until('the task', () => own.story(story).task);
      await own.run('stop', { story });
      const ended = await own.ended(story);
      expect(ended).toMatchObject({ state: 'cancelled', task: { status: 'cancelled' } });
    },
  );

  test('that the server does not know fails with its words', async () => {
    await using own = rig();
    const id = await own.connect({ target: serving.url });
    const { story } = await own.run('followTask', { connection: id, task: 'nobody-knows-it' });
    const ended = await own.ended(story);
    expect(ended.state).toBe('error');
    expect(ended.error?.message.length).toBeGreaterThan(10);
  });

  test('a file of tasks that is broken, or cannot be written, harms nothing', async () => {
    const taskFile = join(folder, 'broken.json');
    await writeFile(taskFile, '{"servers":{"x":[1,{"id":5}],"y":"z"}');
    for (const path of [taskFile, '/proc/nowhere/tasks.json']) {
      await using own = rig({ taskFile: path });
      const id = await own.connect({ target: demo });
      const { story } = await own.run('call', { connection: id, tool: 'bake_bread', args: { stepMs: 1 } });
      await own.until('the task', () => own.story(story).task);
      expect(own.connection(id)?.knownTasks).toHaveLength(1);
    }
  });
});

describe('a tape', () => {
  test('is recorded without secrets, read again, and answers as a server', async () => {
    await using own = rig();
    const id = await own.connect({ target: demo });
    for (const [name, args] of [
      ['add', { a: 1, b: 2 }],
      ['find_order', { id: 2 }],
      ['find_order', { id: 9 }],
      ['add_note', { text: 'token=abcdefghijklmnop' }],
    ] as const)
      await own.ended((await own.run('call', { connection: id, tool: name, args: { ...args } })).story);
    const text = own.inspector.tape(id) ?? '';
    expect(text).toContain('"fullmcp":"recording"');
    expect(text).not.toContain('abcdefghijklmnop');

    const { tape } = await own.run('importTape', { name: 'mine.jsonl', text });
    const view = own.inspector.snapshot().tapes.find(({ id: other }) => other === tape);
    expect(view?.name).toBe('mine.jsonl');
    const calls = view?.calls.filter(({ method }) => method === 'tools/call') ?? [];
    expect(calls.map(({ name }) => name)).toEqual(['add', 'find_order', 'find_order', 'add_note']);
    expect(calls[0]).toMatchObject({ params: { arguments: { a: 1, b: 2 } }, ms: expect.any(Number) });
    expect(own.events.some((event) => event.type === 'tape')).toBe(true);

    // The same file is a server of the testing kit.
    const client = await connect(replay(text));
    expect((await client.callTool('find_order', { id: 2 })).data).toEqual({ id: 2, item: 'Lantern' });
    await client.close();
    await own.run('closeTape', { tape });
    expect(own.inspector.snapshot().tapes).toEqual([]);
  });

  test('is played again: the same, different, and what may change something is skipped', async () => {
    const shop = (price: number) =>
      createServer({
        name: 'shop',
        version: '1.0.0',
        tools: {
          price: tool({ annotations: { readOnly: true }, run: () => ({ price }) }),
          stock: tool({ annotations: { readOnly: true }, run: () => ({ left: 4 }) }),
          buy: tool({ input: z.object({}), run: () => 'bought' }),
        },
      });
    await using own = rig();
    const before = await own.connect({ target: shop(5) });
    for (const name of ['price', 'stock', 'buy'])
      await own.ended((await own.run('call', { connection: before, tool: name, args: {} })).story);
    const { tape } = await own.run('importTape', { name: 'shop', text: own.inspector.tape(before) ?? '' });
    const after = await own.connect({ target: shop(6) });
    const view = own.inspector.snapshot().tapes[0];
    const results = async (allow: readonly string[]) => {
      const { calls } = await own.run('replayTape', { tape, connection: after, allow });
      return new Map(calls.map((one) => [view?.calls[one.call]?.name, one]));
    };
    const first = await results([]);
    expect(first.get('stock')).toMatchObject({ result: 'same' });
    expect(first.get('price')).toMatchObject({
      result: 'different',
      differences: expect.arrayContaining([
        expect.objectContaining({ path: expect.stringContaining('price'), before: '5', after: '6' }),
      ]),
    });
    expect(first.get('buy')).toMatchObject({ result: 'skipped', reason: 'it may change something' });
    expect((await results(['buy'])).get('buy')).toMatchObject({ result: 'same' });
    // Each call is a story of the connection that it was made on.
    const stories = own.inspector
      .snapshot()
      .stories.filter((one) => one.connection === after && one.kind === 'tool');
    expect(stories.map(({ title }) => title)).toContain('buy');
  });
});
