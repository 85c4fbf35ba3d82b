import { McpError } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { expect, test } from 'vitest';
import { client, own, retrying, states } from '../../../examples/middleware/resilience.js';
import { server } from '../../../examples/middleware/server.js';

// Runs the code that docs/retry.md shows.

test('the middleware of the page lets calls pass, retries them, and maps errors of a policy', async () => {
  expect((await client.callTool('order', { id: 1 })).data).toEqual({ id: 1, paid: true });
  expect(states).toEqual([]);
  let failures = 2;
  const flaky = await connect(server, {
    maxRetries: 0,
    use: [
      retrying,
      own,
      async (call, next) => {
        if (call.method === 'tools/call' && failures-- > 0) throw new McpError('connection_closed', 'Lost');
        if (call.method === 'resources/read') throw new Error('An error of the library');
        return next(call);
      },
    ],
  });
  expect((await flaky.callTool('order', { id: 2 })).data).toEqual({ id: 2, paid: true });
  expect(failures).toBe(-1);
  await expect(flaky.readResource('a://b')).rejects.toMatchObject({
    message: 'The service does not respond.',
  });
  await flaky.close();
  await client.close();
});
