import { createServer, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { buildCall, toolResult } from 'fullmcp/testing';
import { expect, test } from 'vitest';
import { counting, maintenance, client as ownClient } from '../../../examples/middleware/own.js';
import * as examples from '../../../examples/middleware/server.js';

test('the server with all middleware answers, logs, and shortens a large result', async () => {
  await using client = await connect(examples.server);
  expect((await client.callTool('order', { id: 7 })).data).toEqual({ id: 7, paid: true });
  const report = await client.callTool('report');
  const link = report.content.find(({ type }) => type === 'resource_link') as { uri: string };
  expect((await client.readResource(link.uri)).text).toContain('One line of the report');
  expect(examples.entries).toContainEqual(expect.objectContaining({ target: 'order', end: 'ok' }));
  await expect(client.callTool('nothing')).rejects.toThrow();
  expect(examples.reported).toHaveLength(1);
});

test('every middleware of the page passes a call on', async () => {
  const { quiet: _, detailed: __, ...others } = examples;
  for (const middleware of Object.values(others).filter((value) => typeof value === 'function'))
    expect(
      await middleware(buildCall('tools/call', { name: 'order' }), async () => toolResult('done')),
    ).toEqual(toolResult('done'));
});

test('the middleware of a client limits what its program gets', async () => {
  await using client = ownClient;
  expect((await client.callTool('report')).text.length).toBeLessThan(3000);
});

test('own middleware refuses calls, and counts in the store of the server', async () => {
  let isOn = false;
  const server = createServer({
    name: 'own',
    version: '1.0.0',
    use: [counting(), maintenance(() => isOn)],
    tools: { ping: tool({ run: () => 'pong' }) },
  });
  await using client = await connect(server, { maxRetries: 0 });
  await client.callTool('ping');
  isOn = true;
  await expect(client.callTool('ping')).rejects.toThrow('The service is being maintained.');
  expect((await server.shared.store.get('calls:own:use.0:tools/call'))?.value).toEqual({ count: 2 });
});

test('the cache of the page keeps the result of a tool for all callers', async () => {
  const server = createServer({ name: 'weather', version: '1.0.0', tools: { weather: examples.weather } });
  await using client = await connect(server);
  expect((await client.callTool('weather', { city: 'Oslo' })).text).toBe('Sunny in Oslo');
  expect((await client.callTool('weather', { city: 'Oslo' })).text).toBe('Sunny in Oslo');
});
