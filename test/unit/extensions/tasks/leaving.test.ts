import { createServer, inProcess, type Store, tool } from 'fullmcp';
import { describe, expect, it } from 'vitest';
import { signal } from '../../../support/signal.js';
import { able, keptStore, quiet, reached } from '../../../support/tasks.js';
import { until } from '../../../support/until.js';

// The moments at which a server may be stopped.

function build(store: Store, gates: Record<string, Promise<void>>) {
  const did: string[] = [];
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
            did.push('work');
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
            did.push('beside');
            return 'kept';
          };
          await Promise.all([ctx.step('beside', work), ctx.background()]);
          await ctx.step('after', () => did.push('after'));
          return 'done';
        },
      }),
      twice: tool({
        task: { support: 'required', start: 'on-background' },
        run: async (_, ctx) => {
          const again = async (): Promise<void> => {
            await ctx.background();
            did.push('in the background');
          };
          await Promise.all([ctx.background(), again()]);
          return 'done';
        },
      }),
    },
  });
  return { server, call: inProcess(server, able), did };
}

const never = new Promise<void>(() => undefined);

/** A store whose writes wait until they are released. */
function heldStore() {
  const kept = keptStore();
  const gate = signal();
  const store: Store = {
    ...kept.store,
    async set(...entry) {
      await gate.promise;
      await kept.store.set(...entry);
    },
  };
  return { kept, store, release: () => gate.give() };
}

describe('a shutdown', () => {
  it('does not count a step that exceeds the drain limit as an attempt', async () => {
    const kept = keptStore();
    const slow: Store = {
      ...kept.store,
      async set(...entry) {
        await new Promise((resolve) => setTimeout(resolve, 2));
        await kept.store.set(...entry);
      },
    };
    let { server, call } = build(slow, { work: never });
    const { taskId } = await call('tools/call', { name: 'works' });
    for (let n = 0; n < 7; n++) {
      await server.drain({ drainMs: 100 });
      expect(await kept.entry(taskId)).toMatchObject({ status: 'working', attempts: 0 });
      await server.close();
      ({ server, call } = build(slow, { work: never }));
      await server.start();
      await until('it runs again', async () => (await kept.entry(taskId))['attempts'] === 1);
    }
    await server.drain({ drainMs: 0 });
  });

  it('waits for a step as long as it takes if the drain limit is infinite', async () => {
    const kept = keptStore();
    const work = signal();
    const { server, call, did } = build(kept.store, { work: work.promise });
    const { taskId } = await call('tools/call', { name: 'works' });
    await until('it works', () => did.length === 1);
    let isDrained = false;
    const draining = server.drain({ drainMs: Number.POSITIVE_INFINITY }).then(() => {
      isDrained = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(isDrained).toBe(false);
    work.give();
    await draining;
    expect((await kept.entry(taskId))['journal']).toMatchObject({ s: [['work', 1]] });
  });

  it.each([Number.NaN, -1, '5' as unknown as number])('rejects the drain limit %s', async (drainMs) => {
    const { server } = build(keptStore().store, {});
    await expect(server.drain({ drainMs })).rejects.toThrow(
      '"drainMs" must be a number of milliseconds, 0 or more.',
    );
    await server.close();
  });

  it.each(['before', 'after'])(
    'keeps a step next to ctx.background() that ends %s the task is saved',
    async (when) => {
      const { kept, store, release } = heldStore();
      const work = signal();
      const { server, call, did } = build(store, { work: work.promise });
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
      expect(did).toEqual(['beside']);
      expect(await kept.entry(taskId)).toMatchObject({
        status: 'working',
        journal: { s: [['beside', 'kept']] },
      });
    },
  );
});

describe('ctx.background()', () => {
  it('resolves both times when the task is saved if it is called twice', async () => {
    const { store, release } = heldStore();
    const { server, call, did } = build(store, {});
    const calling = call('tools/call', { name: 'twice' });
    await quiet();
    expect(did).toEqual([]);
    release();
    const { taskId } = await calling;
    await reached(call, taskId, 'completed');
    expect(did).toEqual(['in the background']);
    await server.close();
  });
});
