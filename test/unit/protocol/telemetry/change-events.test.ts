import diagnostics from 'node:diagnostics_channel';
import { type ChangeEvent, createServer, tool } from 'fullmcp';
import { testClient } from 'fullmcp/testing';
import { expect, onTestFinished, test } from 'vitest';

function recordChanges(): ChangeEvent[] {
  const events: ChangeEvent[] = [];
  const listener = (event: unknown): void => void events.push(event as ChangeEvent);
  diagnostics.subscribe('fullmcp:change', listener);
  onTestFinished(() => void diagnostics.unsubscribe('fullmcp:change', listener));
  return events;
}

test('each change that a server announces is published once, whether or not clients are subscribed', async () => {
  const events = recordChanges();
  const server = createServer({ name: 'shop', version: '1', changes: true });
  server.changed.resource('a://b');
  await using client = await testClient(server);
  await client.ping();
  const { remove } = server.tool('later', {}, () => 'x');
  remove();
  server.changed.prompts();
  expect(events).toEqual([
    { server: 'shop', kind: 'resource', uri: 'a://b' },
    { server: 'shop', kind: 'tools', uri: undefined },
    { server: 'shop', kind: 'tools', uri: undefined },
    { server: 'shop', kind: 'prompts', uri: undefined },
  ]);
});

test('a change of a mounted server is published by both servers, each with its own URI', async () => {
  const events = recordChanges();
  const inner = createServer({
    name: 'inner',
    version: '1',
    changes: true,
    tools: { a: tool({ run: () => 1 }) },
  });
  createServer({ name: 'outer', version: '1', changes: true, mount: { in: inner } });
  inner.changed.resource('a://b');
  expect(events).toEqual([
    { server: 'inner', kind: 'resource', uri: 'a://b' },
    { server: 'outer', kind: 'resource', uri: 'in+a://b' },
  ]);
});
