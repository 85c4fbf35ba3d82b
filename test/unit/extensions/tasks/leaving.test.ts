import { createServer, inProcess, memoryStore, type Server, type Store, tool } from 'fullmcp';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { memoryBus } from '../../../../src/state/bus.js';
import { signal } from '../../../support/signal.js';
import {
  able,
  accept,
  type InProcessCall,
  lastingStore,
  quiet,
  waitForStatus,
} from '../../../support/tasks.js';
import { until } from '../../../support/until.js';

// The moments at which a server may be stopped.

function build(store: Store, gates: Record<string, Promise<void>>) {
  const effects: string[] = [];
  const server = createServer({
    name: 'test',
    version: '1.0.0',
    secret: 'x'.repeat(32),
    logger: () => undefined,
    store,
    tools: {
      works: tool({
        task: 'required',
        run: async (_, ctx) => {
          await ctx.step('work', async () => {
            effects.push('work');
            await gates['work'];
            return 1;
          });
          return 'done';
        },
      }),
      beside: tool({
        task: { support: 'required', start: 'on-background' },
        run: async (_, ctx) => {
          const work = async (): Promise<string> => {
            await gates['work'];
            effects.push('beside');
            return 'lasting';
          };
          await Promise.all([ctx.step('beside', work), ctx.background()]);
          await ctx.step('after', () => effects.push('after'));
          return 'done';
        },
      }),
      twice: tool({
        task: { support: 'required', start: 'on-background' },
        run: async (_, ctx) => {
          const again = async (): Promise<void> => {
            await ctx.background();
            effects.push('in the background');
          };
          await Promise.all([ctx.background(), again()]);
          return 'done';
        },
      }),
    },
  });
  return { server, call: inProcess(server, able), effects };
}

describe('a task whose answer a process reads while it shuts down', () => {
  it('is continued at once by another process', async () => {
    const [inner, bus] = [memoryStore(), memoryBus()];
    const [release, read] = [signal(), signal()];
    let [releasing, reading] = [0, 0];
    let isHeldUp = false;
    const slow: Store = {
      ...inner,
      async write(changes, options) {
        if (changes.some((change) => change.do === 'release') && ++releasing === 1) await release.promise;
        return inner.write(changes, options);
      },
      async items(list, options) {
        const items = await inner.items(list, options);
        if (isHeldUp && list.startsWith('inbox:') && ++reading === 1) await read.promise;
        return items;
      },
    };
    const [leaving, staying] = [slow, inner].map((store) => {
      const server = createServer({
        name: 'test',
        version: '1.0.0',
        secret: 'x'.repeat(32),
        logger: () => undefined,
        store: { ...store, close: async () => undefined },
        bus,
        tasks: { parkMs: 20 },
        tools: {
          asks: tool({
            task: 'required',
            run: async (_, ctx) =>
              (await ctx.elicit('sure', { message: 'Sure?', schema: z.object({ ok: z.boolean() }) })).action,
          }),
        },
      });
      onTestFinished(() => server.close());
      return { server, call: inProcess(server, able) };
    }) as [Replica, Replica];
    await staying.server.start();
    const { taskId } = await leaving.call('tools/call', { name: 'asks' });
    const { inputRequests } = await waitForStatus(leaving.call, taskId, 'input_required');
    await until('the task is being put aside', () => releasing === 1);
    isHeldUp = true;
    const [key] = Object.keys(inputRequests as object);
    const inputResponses = { [key as string]: accept({ ok: true }) };
    await staying.call('tasks/update', { taskId, inputResponses });
    await until('the answer is being read', () => reading === 1);
    const closing = leaving.server.close();
    read.give();
    await quiet();
    release.give();
    await closing;
    await waitForStatus(staying.call, taskId, 'completed');
  });
});

interface Replica {
  readonly server: Server;
  readonly call: InProcessCall;
}

const never = new Promise<void>(() => undefined);

/** A store whose writes wait until they are released. */
function delayedStore() {
  const lasting = lastingStore();
  const gate = signal();
  const store: Store = {
    ...lasting.store,
    async write(...args) {
      await gate.promise;
      return lasting.store.write(...args);
    },
  };
  return { lasting, store, release: () => gate.give() };
}

describe('a shutdown', () => {
  it('does not count a step that exceeds the drain limit as an attempt', async () => {
    const lasting = lastingStore();
    const attempts: number[] = [];
    const slow: Store = {
      ...lasting.store,
      async write(...args) {
        await new Promise((resolve) => setTimeout(resolve, 2));
        return lasting.store.write(...args);
      },
      async claim(...args) {
        const leases = await lasting.store.claim(...args);
        attempts.push(...leases.map(({ attempt }) => attempt));
        return leases;
      },
    };
    let { server, call, effects } = build(slow, { work: never });
    const { taskId } = await call('tools/call', { name: 'works' });
    for (let n = 0; n < 7; n++) {
      await until('it runs', () => effects.length === 1);
      await server.drain({ drainMs: 100 });
      expect(await lasting.entry(taskId)).toMatchObject({ status: 'working' });
      await server.close();
      ({ server, call, effects } = build(slow, { work: never }));
      await server.start();
    }
    await until('it runs', () => effects.length === 1);
    expect(attempts).toEqual([1, 1, 1, 1, 1, 1, 1]);
    expect((await lasting.entry(taskId))['failed']).toBeUndefined();
    await server.drain({ drainMs: 0 });
  });

  it('waits for a step as long as it takes if the drain limit is infinite', async () => {
    const lasting = lastingStore();
    const work = signal();
    const { server, call, effects } = build(lasting.store, { work: work.promise });
    const { taskId } = await call('tools/call', { name: 'works' });
    await until('it works', () => effects.length === 1);
    let isDrained = false;
    const draining = server.drain({ drainMs: Number.POSITIVE_INFINITY }).then(() => {
      isDrained = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(isDrained).toBe(false);
    work.give();
    await draining;
    expect((await lasting.entry(taskId)).steps).toEqual([['work', 1]]);
  });

  it.each([Number.NaN, -1, '5' as unknown as number])('rejects the drain limit %s', async (drainMs) => {
    const { server } = build(lastingStore().store, {});
    await expect(server.drain({ drainMs })).rejects.toThrow(
      'drain: "drainMs" must be a number of milliseconds, 0 or more, not ',
    );
    await server.close();
  });

  it.each(['before', 'after'])(
    'saves a step that runs next to ctx.background() and ends %s the task is saved',
    async (when) => {
      const { lasting, store, release } = delayedStore();
      const work = signal();
      const { server, call, effects } = build(store, { work: work.promise });
      const calling = call('tools/call', { name: 'beside' });
      await quiet();
      const draining = server.drain();
      for (const next of when === 'before' ? [work.give, release] : [release, work.give]) {
        next();
        await quiet();
      }
      await draining;
      // This is not an error: a client that retries would get two tasks.
      const { taskId } = await calling;
      expect(effects).toEqual(['beside']);
      expect(await lasting.entry(taskId)).toMatchObject({
        status: 'working',
        steps: [['beside', 'lasting']],
      });
    },
  );
});

describe('ctx.background()', () => {
  it('that is called twice resolves both calls when the task is saved', async () => {
    const { store, release } = delayedStore();
    const { server, call, effects } = build(store, {});
    const calling = call('tools/call', { name: 'twice' });
    await quiet();
    expect(effects).toEqual([]);
    release();
    const { taskId } = await calling;
    await waitForStatus(call, taskId, 'completed');
    expect(effects).toEqual(['in the background']);
    await server.close();
  });
});
