import process from 'node:process';
import { createServer, tool } from 'fullmcp';
import { expect, test } from 'vitest';
import { everyWire, mockServer, recorder, replay, testClient, wires } from '../../../../src/testing.js';
import { until } from '../../../support/until.js';

const server = createServer({
  name: 'tested',
  version: '1.0.0',
  tools: { hello: tool({ run: (_, ctx) => `Hello, ${ctx.auth?.subject ?? 'you'}` }) },
});

test('everyWire runs a test over every wire, one after another', async () => {
  const names: string[] = [];
  await everyWire(
    server,
    async (client, { name, revision }) => {
      names.push(name);
      expect(client.server.revision).toBe(revision);
      expect((await client.callTool('hello')).text).toBe('Hello, ada');
    },
    { caller: { subject: 'ada' } },
  );
  expect(names).toEqual(wires.map(({ name }) => name));
});

test('everyWire names the wire of a failure', async () => {
  const failing = everyWire(server, (client, { over, revision }) => {
    expect(`${client.info().transport} ${revision}`).not.toBe('stdio 2025-06-18');
    expect(over).not.toBe('websocket');
  });
  await expect(failing).rejects.toThrow(/^stdio 2025-06-18: expected/);
  await expect(
    everyWire(server, () => {
      throw 'no error';
    }),
  ).rejects.toThrow('in-process 2026-07-28: no error');
});

test('everyWire gives each wire a server of its own if a function creates them, and closes it', async () => {
  let created = 0;
  let closes = 0;
  await everyWire(
    () => {
      created += 1;
      const mock = mockServer({ tools: { count: () => mock.callsTo('count').length } });
      return {
        ...mock,
        [Symbol.asyncDispose]: async () => {
          closes += 1;
          await mock.close();
        },
      };
    },
    async (client) => {
      await client.callTool('count');
      expect((await client.callTool('count')).text).toBe('2');
    },
  );
  expect(created).toBe(wires.length);
  expect(closes).toBe(wires.length);
});

test('everyWire leaves out in-process with faults', async () => {
  const names: string[] = [];
  await everyWire(server, (_, { over }) => void names.push(over), { faults: { seed: 1 } });
  expect(names).toHaveLength(wires.length - 1);
  expect(names).not.toContain('in-process');
});

test('a recording over one wire can be replayed to another', async () => {
  const tape = recorder();
  const mock = mockServer({ tools: { add: ({ a, b }) => a + b } });
  {
    await using client = await testClient(mock, { over: 'stdio', use: [tape] });
    await client.tools().all();
    await client.callTool('add', { a: 1, b: 2 });
  }
  await everyWire({ dispatch: replay(tape.recording) }, async (client) => {
    expect((await client.tools().all()).map(({ name }) => name)).toEqual(['add']);
    expect((await client.callTool('add', { a: 1, b: 2 })).text).toBe('3');
    await expect(client.callTool('add', { a: 2, b: 2 })).rejects.toThrow('no call of tools/call add');
  });
});

test('large and odd strings arrive unchanged over every wire', async () => {
  const odd = `${'ä🦆\u2028\r\n"\\'.repeat(20_000)}end`;
  const mock = mockServer({ tools: { echo: ({ text }) => text } });
  await everyWire(mock, async (client) => {
    expect((await client.callTool('echo', { text: odd })).text === odd).toBe(true);
  });
});

test('everyWire leaves no timer and no message port open', async () => {
  const timers = (): number =>
    process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout' || kind === 'MessagePort').length;
  const before = timers();
  const mock = mockServer({ tools: { hello: 'Hello' }, resources: { 'x://y': 'z' } });
  await everyWire(mock, async (client) => {
    mock.hang('hello');
    void client.callTool('hello').catch(() => undefined);
    await client.subscribe('x://y');
    await client.readResource('x://y');
  });
  await until('nothing is open', () => timers() <= before);
});
