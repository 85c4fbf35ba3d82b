import { createServer, inProcess, memoryBus, memoryStore, type Store, type StoreChange, tool } from 'fullmcp';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { signal } from '../../../../support/signal.js';
import { able, accept, waitForStatus } from '../../../../support/tasks.js';
import { until } from '../../../../support/until.js';

// Writes that were made, while the process that sent them does not know it.

const bare = z.object({ a: z.string() });

function replica(
  name: string,
  parts: { store: Store; bus?: ReturnType<typeof memoryBus> },
  effects: string[],
) {
  const { store, bus } = parts;
  const server = createServer({
    name: 'test',
    version: '1.0.0',
    secret: 'x'.repeat(32),
    logger: () => undefined,
    store: { ...store, close: async () => undefined },
    ...(bus && { bus: { ...bus, close: async () => undefined } }),
    tasks: { leaseMs: 300, parkMs: name === 'parks' ? 60_000 : 20 },
    tools: {
      asks: tool({
        task: 'required',
        run: async (_, ctx) => {
          const { a } = await ctx.ask('a', { message: 'a', schema: bare });
          await ctx.step('step', () => effects.push(`step ${name}`));
          return a;
        },
      }),
      asksTwice: tool({
        task: 'required',
        run: async (_, ctx) => {
          const ask = async (key: string) => {
            const { a } = await ctx.ask(key, { message: key, schema: bare });
            effects.push(`answer ${key}`);
            return a;
          };
          return (await Promise.all([ask('a'), ask('b')])).join(' ');
        },
      }),
      asksBeside: tool({
        task: 'required',
        run: async (_, ctx) => {
          const beside = async () => {
            await until('the question is on its way', () => effects.length > 0);
            await ctx.step('beside', async () => {
              effects.push('begin');
              await new Promise((resolve) => setTimeout(resolve, 100));
              effects.push('end');
            });
          };
          await Promise.all([ctx.ask('a', { message: 'a', schema: bare }), beside()]);
        },
      }),
      inBackground: tool({
        task: { support: 'required', start: 'on-background' },
        run: async (_, ctx) => {
          await ctx.background();
          effects.push('background');
        },
      }),
      asksLater: tool({
        task: 'required',
        run: async (_, ctx) => {
          const ask = async (key: string) => (await ctx.ask(key, { message: key, schema: bare })).a;
          const later = async () => {
            await until('the first answer has arrived', () => effects.includes('answered'));
            // A handler that has begun a step is not one that only waits.
            await ctx.step('between', () => undefined);
            return ask('b');
          };
          return (await Promise.all([ask('a'), later()])).join(' ');
        },
      }),
      works: tool({ task: 'required', run: (_, ctx) => ctx.step('work', () => 'done') }),
    },
  });
  return { server, call: inProcess(server, able) };
}

const isWaiting = (change: StoreChange): boolean => change.do === 'put' && change.value['waiting'] === true;
const isNew = (change: StoreChange): boolean => change.do === 'put' && change.if === 'absent';
const isEnd = (change: StoreChange): boolean => change.do === 'put' && change.value['status'] === 'completed';

it('begins no step while the reply to the write that puts the task aside is on its way', async () => {
  const store = memoryStore();
  const bus = memoryBus();
  const effects: string[] = [];
  const reply = signal();
  let isAside = false;
  const late: Store = {
    ...store,
    async write(changes, options) {
      const written = await store.write(changes, options);
      if (!changes.some(isWaiting)) return written;
      isAside = true;
      await reply.promise;
      return written;
    },
  };
  const one = replica('one', { store: late, bus }, effects);
  const two = replica('two', { store, bus }, effects);
  await two.server.start();
  const { taskId } = await one.call('tools/call', { name: 'asks' });
  await until('the task is put aside', () => isAside);
  await one.call('tasks/update', { taskId, inputResponses: { a: accept({ a: 'yes' }) } });
  await waitForStatus(two.call, taskId, 'completed');
  reply.give();
  await one.server.close();
  await two.server.close();
  expect(effects).toEqual(['step two']);
});

it('finds the answer to the second of two questions, even if nobody announces it', async () => {
  const store = memoryStore();
  const effects: string[] = [];
  const holder = replica('parks', { store }, effects);
  const other = replica('other', { store }, []);
  const { taskId } = await holder.call('tools/call', { name: 'asksTwice' });
  await waitForStatus(holder.call, taskId, 'input_required');
  await other.call('tasks/update', { taskId, inputResponses: { a: accept({ a: 'yes' }) } });
  await until('the handler has the first answer', () => effects.length === 1);
  await other.call('tasks/update', { taskId, inputResponses: { b: accept({ a: 'no' }) } });
  await until('the handler has the second answer', () => effects.length === 2);
  expect(await waitForStatus(other.call, taskId, 'completed')).toMatchObject({
    result: { content: [{ text: 'yes no' }] },
  });
  await holder.server.close();
  await other.server.close();
});

it.each([
  ['a valid answer', { a: 'yes' }],
  ['an invalid answer', { wrong: true }],
])('asks again when %s can be read that kept it from asking', async (_, content) => {
  const store = memoryStore();
  const effects: string[] = [];
  let isAway = false;
  let refused = 0;
  const unreadable: Store = {
    ...store,
    items: (list, options) =>
      isAway && list.startsWith('inbox:') ? Promise.reject(new Error('away')) : store.items(list, options),
    async write(changes, options) {
      const written = await store.write(changes, options);
      if (!written.ok) refused++;
      return written;
    },
  };
  const holder = replica('parks', { store: unreadable }, effects);
  const other = replica('other', { store }, []);
  const { taskId } = await holder.call('tools/call', { name: 'asksLater' });
  await waitForStatus(other.call, taskId, 'input_required');
  isAway = true;
  await other.call('tasks/update', { taskId, inputResponses: { a: accept(content) } });
  effects.push('answered');
  await until('the second question was refused', () => refused > 0);
  isAway = false;
  await waitForStatus(other.call, taskId, 'input_required');
  const inputResponses = { a: accept({ a: 'yes' }), b: accept({ a: 'no' }) };
  await other.call('tasks/update', { taskId, inputResponses });
  expect(await waitForStatus(other.call, taskId, 'completed')).toMatchObject({
    result: { content: [{ text: 'yes no' }] },
  });
  await holder.server.close();
  await other.server.close();
});

it('puts a task aside only when the step that began beside its question has ended', async () => {
  const store = memoryStore();
  const effects: string[] = [];
  const slow: Store = {
    ...store,
    async write(changes, options) {
      const isAsking = changes.some((change) => change.do === 'put' && change.value['open'] !== undefined);
      const releases = changes.some((change) => change.do === 'release');
      if (isAsking && options?.guard !== undefined) effects.push(releases ? 'put aside' : 'asked');
      if (effects.length === 1) await until('the step has begun', () => effects.length > 1);
      return store.write(changes, options);
    },
  };
  const one = replica('one', { store: slow }, effects);
  await one.call('tools/call', { name: 'asksBeside' });
  await until('the task is put aside', () => effects.includes('put aside'));
  expect(effects).toEqual(['asked', 'begin', 'end', 'put aside']);
  await one.server.close();
});

it('removes a task of a running handler that seemed to fail as another process has changed it meanwhile, with all its counts', async () => {
  const store = memoryStore();
  let reads = 0;
  const doubtful: Store = {
    ...store,
    async write(changes, options) {
      const written = await store.write(changes, options);
      if (changes.some(isNew)) throw new Error('The reply was lost');
      return written;
    },
    async get(key) {
      const entry = await store.get(key);
      if (!key.startsWith('task:') || entry === undefined || reads++ > 0) return entry;
      const value = { ...entry.value, bytes: Number(entry.value['bytes']) + 500 };
      const group = key.split(':')[1];
      await store.write([
        { do: 'put', key, value },
        { do: 'count', key: `bytes:${group}`, by: 500 },
      ]);
      return entry;
    },
  };
  const effects: string[] = [];
  const { server } = replica('one', { store: doubtful }, effects);
  const call = inProcess(server, { ...able, caller: { subject: 'someone' } });
  await call('tools/call', { name: 'inBackground' }).catch(() => undefined);
  expect(effects).toEqual([]);
  const left = await store.page('');
  expect(left.filter(({ key }) => !key.startsWith('task-worker:'))).toEqual([]);
  expect(reads).toBe(2);
  await server.close();
});

it('announces the end of a task whose last write was made although it was reported as failed', async () => {
  const store = memoryStore();
  const bus = memoryBus();
  const seen = signal();
  const doubtful: Store = {
    ...store,
    async write(changes, options) {
      if (changes.some(isEnd)) await seen.promise;
      const written = await store.write(changes, options);
      if (changes.some(isEnd) && written.ok) throw new Error('The reply was lost');
      return written;
    },
  };
  const one = replica('one', { store: doubtful, bus }, []);
  const two = replica('two', { store, bus }, []);
  const { taskId } = await one.call('tools/call', { name: 'works' });
  const heard: unknown[] = [];
  const controller = new AbortController();
  const listening = two.server.dispatch({
    id: 1,
    method: 'subscriptions/listen',
    params: { notifications: { taskIds: [taskId] } },
    peer: {
      revision: '2026-07-28',
      client: undefined,
      capabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } },
      logLevel: undefined,
    },
    signal: controller.signal,
    notify: (_method, params) => void heard.push(params?.['status']),
  });
  await until('the subscription is acknowledged', () => heard.length > 0);
  seen.give();
  await until('the end is heard', () => heard.includes('completed'));
  controller.abort();
  await listening;
  await one.server.close();
  await two.server.close();
});

it('never shows an answered question again, even if the task ends while it is read', async () => {
  const store = memoryStore();
  const hasEnded = signal();
  let isReading = false;
  const slow: Store = {
    ...store,
    async items(...args) {
      isReading = true;
      await hasEnded.promise;
      return store.items(...args);
    },
  };
  const holder = replica('parks', { store }, []);
  const reader = replica('reads', { store: slow }, []);
  const { taskId } = await holder.call('tools/call', { name: 'asks' });
  await waitForStatus(holder.call, taskId, 'input_required');
  const read = reader.call('tasks/get', { taskId });
  await until('the head is read, and the inbox is not', () => isReading);
  await holder.call('tasks/update', { taskId, inputResponses: { a: accept({ a: 'yes' }) } });
  await waitForStatus(holder.call, taskId, 'completed');
  hasEnded.give();
  expect(await read).toMatchObject({ status: 'completed' });
  await Promise.all([holder.server.close(), reader.server.close()]);
});
