import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tool } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { gateway } from 'fullmcp/gateway';
import { expect, onTestFinished, test } from 'vitest';
import { type Serving, serve } from '../../../../src/node.js';
import { signal } from '../../../support/signal.js';
import { soon, until } from '../../../support/until.js';
import { configOf, gatewayTo, serverWith, textOf, toolNames } from './gateway-servers.js';

const say = (text: string) => tool({ run: () => text });

async function served(text: string): Promise<Serving> {
  const serving = await serve(serverWith({ tools: { say: say(text) } }), { port: 0, signals: false });
  onTestFinished(() => serving.close());
  return serving;
}

async function configFileOf(
  servers: object,
): Promise<{ path: string; save: (servers: object | string) => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'mcp.json');
  const save = async (next: object | string): Promise<void> => {
    // As editors do it: the file is replaced as a whole.
    const text = typeof next === 'string' ? next : JSON.stringify({ mcpServers: next });
    await writeFile(`${path}.new`, text);
    await rename(`${path}.new`, path);
  };
  await save(servers);
  return { path, save };
}

test('a config that is edited restarts only the servers whose entry has changed', async () => {
  const [one, two, three] = await Promise.all(['one', 'two', 'three'].map(served));
  const { path, save } = await configFileOf({ a: { url: one?.url }, b: { url: two?.url } });
  const log: string[] = [];
  const hub = gateway(path, { watchMs: 10, logger: (_level, message) => log.push(message) });
  onTestFinished(() => hub.close());
  const client = await connect(hub);
  onTestFinished(() => client.close());
  expect([await textOf(client, 'a_say'), await textOf(client, 'b_say')]).toEqual(['one', 'two']);
  const changes: unknown[] = [];
  await using _watch = await client.subscribe(
    { tools: true },
    { onChange: (change) => changes.push(change) },
  );

  await save({
    a: { url: one?.url },
    b: { url: three?.url, headers: { 'x-new': 'yes' } },
    c: { url: two?.url },
  });
  await until('the config was read', () => log.some((line) => line.includes('added: c')));
  expect(log.find((line) => line.includes('The config was read'))).toBe(
    'The config was read: added: c; changed: b.',
  );
  expect(hub.servers()).toMatchObject({
    a: { status: 'ready' },
    b: { status: 'idle' },
    c: { status: 'idle' },
  });
  await until('the change was announced', () => changes.length > 0);
  expect(await toolNames(client)).toEqual(['a_say', 'b_say', 'c_say']);
  expect([await textOf(client, 'b_say'), await textOf(client, 'c_say')]).toEqual(['three', 'two']);

  await save('{ "mcpServers": { "a": ');
  await until('the mistake was reported', () => log.some((line) => line.includes('stay as they are')));
  expect(await textOf(client, 'a_say')).toBe('one');

  await save({ c: { url: two?.url } });
  await until('the servers are removed', () => Object.keys(hub.servers()).length === 1);
  expect(await toolNames(client)).toEqual(['c_say']);
});

test('open calls of a server that is removed end before it is closed, and new ones find it no more', async () => {
  let finish!: (text: string) => void;
  const begun = signal();
  const slow = serverWith({
    tools: {
      wait: tool({
        run: () =>
          new Promise<string>((resolve) => {
            finish = resolve;
            begun.give();
          }),
      }),
    },
  });
  const { hub, client } = await gatewayTo({ slow });
  const waiting = textOf(client, 'slow_wait');
  await begun.promise;
  expect(await hub.reload({ mcpServers: {} })).toMatchObject({ removed: ['slow'] });
  await expect(client.callTool('slow_wait')).rejects.toThrow('Unknown tool');
  finish('done');
  expect(await soon('the result', waiting)).toBe('done');
});

test('closing does not wait for the calls of a server that was removed', async () => {
  const begun = signal();
  const stuck = serverWith({
    tools: {
      wait: tool({
        run: (_input, { signal: ended }) => {
          begun.give();
          return new Promise<string>((_, reject) =>
            ended.addEventListener('abort', () => reject(ended.reason)),
          );
        },
      }),
    },
  });
  const serving = await serve(stuck, { port: 0, signals: false });
  onTestFinished(() => serving.close());
  const { hub, client } = await gatewayTo({ stuck: serving.url }, { drainMs: 600_000 });
  const waiting = textOf(client, 'stuck_wait').catch((error: Error) => error.message);
  await begun.promise;
  await hub.reload(configOf({}));
  await soon('the end of the gateway', hub.close());
  expect(await soon('the end of the call', waiting)).toContain('closed');
});

test('a config with mistakes changes nothing', async () => {
  const { hub, client } = await gatewayTo({ a: serverWith({ tools: { say: say('a') } }) });
  await expect(hub.reload({ mcpServers: { a: {} as never, b: { url: 'nowhere' } } })).rejects.toThrow(
    'mistakes',
  );
  await expect(hub.reload({ mcpServers: { a: { target: 'nothing at all' } } })).rejects.toThrow('target');
  expect(await textOf(client, 'a_say')).toBe('a');
  await expect(hub.reload()).rejects.toThrow('Pass the new config');
});
