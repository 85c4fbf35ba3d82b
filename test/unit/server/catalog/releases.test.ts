import { createServer, memoryBus, tool } from 'fullmcp';
import { expect, test } from 'vitest';
import { testClient } from '../../../../src/testing.js';
import { until } from '../../../support/until.js';

test('a process tells its subscribers when one with other tools starts or ends, and not when one with the same tools does', async () => {
  const bus = memoryBus();
  // Each server closes its bus, and all of them are in one process here.
  const shared = { ...bus, close: async () => undefined };
  const echo = tool({ run: () => 'echo' });
  const make = (tools: Record<string, typeof echo>) =>
    createServer({ name: 'released', version: '1.0.0', bus: shared, logger: () => undefined, tools });
  const server = make({ echo });
  await server.start();
  await using client = await testClient(server);
  let heard = 0;
  await client.subscribe(
    { tools: true, prompts: true },
    { onChange: ({ kind }) => kind === 'tools' && heard++ },
  );
  const same = make({ echo });
  await same.start();
  await same.close();
  const other = make({ echo, added: echo });
  await other.start();
  await until('the start is reported', () => heard === 1);
  await other.close();
  await until('the end is reported', () => heard === 2);
  await server.close();
  expect(heard).toBe(2);
});
