import { connect } from 'fullmcp/client';
import { expect, test } from 'vitest';
import { connectAll, hub, programTools } from '../../../examples/code-mode/client.js';
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
});

const both = `const [one, other] = await Promise.all([tools.billing_list_invoices({}), tools.archive_list_invoices({})]);
return one.length + other.length;`;

test('programs run in a client of several servers, and in a gateway to them', async () => {
  await using client = await connectAll();
  const { tools, run } = await programTools(client);
  expect(tools.map(({ name }) => name)).toEqual(['search_tools', 'run_code']);
  const use = { type: 'tool_use', id: 'u', name: 'run_code', input: { code: both } } as const;
  expect(JSON.stringify(await run(use))).toContain('\\"result\\":6');
  await using connected = await connect(hub);
  const result = (await connected.callTool('run_code' as never, { code: both } as never)) as {
    data: unknown;
  };
  expect(result.data).toEqual({ result: 6, calls: 2 });
  await hub.close();
  await server.close();
});
