import { createServer, memoryStore, type Store, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { expect, test } from 'vitest';

test('a call whose key was recorded although the reply of the store was lost runs when it is repeated', async () => {
  const inner = memoryStore();
  const lose = { replies: 0 };
  const store: Store = {
    get: async (key) => {
      if (lose.replies > 0) throw new Error('The connection is lost.');
      return inner.get(key);
    },
    page: (...args) => inner.page(...args),
    items: (...args) => inner.items(...args),
    async write(...args) {
      const written = await inner.write(...args);
      if (lose.replies-- > 0) throw new Error('The reply was lost.');
      return written;
    },
    claim: (...args) => inner.claim(...args),
    renew: (...args) => inner.renew(...args),
    size: (...args) => inner.size(...args),
    close: () => inner.close(),
  };
  let runs = 0;
  const server = createServer({
    name: 'keys',
    version: '1.0.0',
    store,
    logger: () => undefined,
    tools: { pay: tool({ idempotency: true, run: () => `paid as ${++runs}` }) },
  });
  await using client = await connect(server, { maxRetries: 0 });
  lose.replies = 1;
  await expect(client.callTool('pay', {}, { idempotencyKey: 'k' })).rejects.toThrow('The call did not run');
  expect(runs).toBe(0);
  // Without a lease that has to end first: the test's time limit is only a little longer.
  const again = await client.callTool('pay', {}, { idempotencyKey: 'k', timeoutMs: 10_000 });
  expect(again.text).toBe('paid as 1');
  expect((await client.callTool('pay', {}, { idempotencyKey: 'k' })).text).toBe('paid as 1');
  await server.close();
});
