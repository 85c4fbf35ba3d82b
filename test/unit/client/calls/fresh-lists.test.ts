import { expect, test } from 'vitest';
import { connect } from '../../../../src/client.js';
import { createServer, tool } from '../../../../src/index.js';
import { serve } from '../../../../src/node.js';

test('a list of a server in the same process is never outdated, and a cached list over HTTP is fetched again with `fresh`', async () => {
  const server = createServer({ name: 'grows', version: '1', tools: { one: tool({ run: () => 1 }) } });
  await using inside = await connect(server);
  expect(await inside.tools().all()).toHaveLength(1);
  const running = await serve(server, { port: 0 });
  await using outside = await connect(running.url);
  expect(await outside.tools().all()).toHaveLength(1);
  server.tool('two', {}, () => 2);
  expect(await inside.tools().all()).toHaveLength(2);
  expect(await outside.tools().all()).toHaveLength(1);
  expect(await outside.tools({ fresh: true }).all()).toHaveLength(2);
  expect(await outside.tools().all()).toHaveLength(2);
  await outside.close();
  await running.close();
});

test('a list of a group is never outdated if its servers are in the same process', async () => {
  const server = createServer({ name: 'grows', version: '1', tools: { one: tool({ run: () => 1 }) } });
  await using group = await connect({ mcpServers: { it: { target: server } } });
  expect(await group.tools().all()).toHaveLength(1);
  server.tool('two', {}, () => 2);
  expect(await group.tools().all()).toHaveLength(2);
});
