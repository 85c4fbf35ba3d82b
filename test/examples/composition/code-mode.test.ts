import { connect } from 'fullmcp/client';
import { expect, test } from 'vitest';
import { program, sent, server } from '../../../examples/code-mode/server.js';

test('a model finds tools as lines of TypeScript, and runs a program that calls them', async () => {
  await using client = await connect(server);
  expect((await client.tools().all()).map(({ name }) => name)).toEqual(['search_tools', 'run_code']);
  const found = await client.callTool('search_tools' as never, { query: 'remind of an invoice' } as never);
  expect((found as { text: string }).text).toContain(
    'tools.remind({ id: string }): { sent: boolean }; // Sends a reminder for an invoice [changes]',
  );
  const result = (await client.callTool('run_code' as never, { code: program } as never)) as {
    data: unknown;
  };
  expect(result.data).toEqual({ result: { reminded: 2 }, calls: 3 });
  expect(sent.toSorted()).toEqual(['in_2', 'in_3']);
  await server.close();
});
