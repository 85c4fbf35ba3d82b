import { createServer, inProcess, type Tool, tool } from 'fullmcp';
import { versions } from 'fullmcp/transform';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { readUnfinished } from '../../../../src/extensions/tasks/operator.js';
import { able, accept, lastingStore, waitForStatus } from '../../../support/tasks.js';

const asking = tool({
  task: 'required',
  run: async (_, ctx) => {
    await ctx.ask('sure', { message: 'Sure?', schema: z.object({ ok: z.boolean() }) });
    return 'done';
  },
}) as Tool;

test('an operator sees which processes run tasks, and what waits in which version, until it has ended', async () => {
  const { store } = lastingStore();
  const release = (version: string, tools: Record<string, Tool>) => {
    const server = createServer({
      ...{ name: 'shop', version, secret: 'x'.repeat(32), logger: () => undefined, store },
      tools: { ...tools, plain: tool({ run: () => 'no task' }) },
    });
    return { server, call: inProcess(server, able) };
  };
  const old = release('1.0.0', { order: versions({ '1.0': asking }), report: asking });
  const begin = async (name: string): Promise<unknown> => {
    const { taskId } = await old.call('tools/call', { name });
    await waitForStatus(old.call, taskId, 'input_required');
    return taskId;
  };
  const first = await begin('order');
  await begin('order');
  await begin('report');
  const next = release('2.0.0', { order: versions({ '2.0': asking }), report: asking });
  await next.server.start();
  const { releases, tasks } = await readUnfinished(store);
  const sorted = [...releases].sort((a, b) => (a.release < b.release ? -1 : 1));
  expect(sorted).toEqual([
    { server: 'shop', release: '1.0.0', processes: 1 },
    { server: 'shop', release: '2.0.0', processes: 1 },
  ]);
  const facts = { server: 'shop', release: '1.0.0', working: 0, oldest: expect.stringMatching(/^20.*Z$/) };
  expect([...tasks].sort((a, b) => (a.tool < b.tool ? -1 : 1))).toEqual([
    { ...facts, tool: 'order', version: '1.0', waiting: 2, processes: 1 },
    { ...facts, tool: 'report', waiting: 1, processes: 2 },
  ]);
  await old.call('tasks/update', { taskId: first, inputResponses: { sure: accept({ ok: true }) } });
  await waitForStatus(old.call, first, 'completed');
  await old.server.close();
  const after = await readUnfinished(store);
  expect(after.releases).toEqual([{ server: 'shop', release: '2.0.0', processes: 1 }]);
  expect(after.tasks.find(({ tool: name }) => name === 'order')).toMatchObject({ waiting: 1, processes: 0 });
  // Entries that are something else are left out.
  await store.write([{ do: 'put', key: 'task:other:1', value: { nothing: 1 } }]);
  await store.write([{ do: 'put', key: 'task-worker:other:1', value: { release: '1' } }]);
  expect(await readUnfinished(store)).toEqual(after);
  await next.server.close();
});
