import { createServer, inProcess, memoryStore, type Store, tool } from 'fullmcp';
import { versions } from 'fullmcp/transform';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { library, orders, shop } from '../../../examples/compose/deploys.js';
import { able, accept, waitForStatus } from '../../support/tasks.js';

// Runs the code that docs/deploys.md shows.

test('a version that answers through the current one serves callers of the older list', async () => {
  const call = inProcess(shop);
  const answer = async (args: object) =>
    (await call('tools/call', { name: 'search', arguments: args }))['content'];
  expect(await answer({ query: 'sea storm' })).toMatchObject([{ text: 'Books with sea and storm' }]);
  expect(await answer({ terms: ['sea'] })).toMatchObject([{ text: 'Books with sea' }]);
});

test('tools that were removed are not listed, and answer callers of the older list', async () => {
  const call = inProcess(library);
  const { tools } = await call('tools/list');
  expect(tools).toEqual([expect.objectContaining({ name: 'find' })]);
  const found = await call('tools/call', { name: 'search', arguments: { query: 'sea' } });
  expect(found).toMatchObject({
    content: [{ text: 'Books about sea' }],
    _meta: { 'fullmcp/version': '1.0' },
  });
  const fax = await call('tools/call', { name: 'order_by_fax', arguments: { to: '555' } });
  expect(fax).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('have ended') }] });
});

test('a task of the version before is migrated, and its customer does not pay twice', async () => {
  const store: Store = { ...memoryStore(), close: async () => undefined };
  const base = { name: 'shop', version: '1.0.0', secret: 'x'.repeat(32), logger: () => undefined, store };
  const before = tool({
    input: z.object({ book: z.string() }),
    task: 'required',
    async run(_, ctx) {
      await ctx.step('charge', () => 'invoice 17');
      await ctx.ask('address', { message: 'Address?', schema: z.object({ address: z.string() }) });
    },
  });
  const first = createServer({ ...base, tools: { order: versions({ '1.0': before }) } });
  const old = inProcess(first, able);
  const { taskId } = await old('tools/call', { name: 'order', arguments: { book: 'Emma' } });
  await waitForStatus(old, taskId, 'input_required');
  await first.close();
  const second = createServer({ ...base, version: '2.0.0', tools: orders });
  const call = inProcess(second, able);
  const inputResponses = { address: accept({ address: 'Bath' }) };
  await call('tasks/update', { taskId, inputResponses });
  // The question says something else now, so it is asked again.
  await waitForStatus(call, taskId, 'input_required');
  await call('tasks/update', { taskId, inputResponses });
  expect(await waitForStatus(call, taskId, 'completed')).toMatchObject({
    result: { content: [{ text: 'invoice 17, sent to Bath' }] },
  });
  await second.close();
});
