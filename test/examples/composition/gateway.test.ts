import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, tool } from 'fullmcp';
import { hashApiKey } from 'fullmcp/auth';
import { connect } from 'fullmcp/client';
import { serve } from 'fullmcp/node';
import { expect, onTestFinished, test } from 'vitest';
import { byTeam, pinned, searched, served } from '../../../examples/gateway/gateway.js';

// Runs the code that docs/gateway.md shows.

async function behind(tools: Readonly<Record<string, string>>): Promise<string> {
  const server = createServer({
    ...{ name: 'behind', version: '1.0.0', logger: () => undefined },
    tools: Object.fromEntries(Object.entries(tools).map(([name, text]) => [name, tool({ run: () => text })])),
  });
  const serving = await serve(server, { port: 0, signals: false });
  onTestFinished(() => serving.close());
  return serving.url;
}

async function configOf(urls: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-example-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'mcp.json');
  const mcpServers = Object.fromEntries(Object.entries(urls).map(([name, url]) => [name, { url }]));
  await writeFile(path, JSON.stringify({ mcpServers }));
  return path;
}

test('the gateway of the guide serves the servers of its config to those with a key', async () => {
  const config = await configOf({
    web: await behind({ search: 'found' }),
    notes: await behind({ search: 'noted' }),
  });
  const key = 'a-key-of-one-caller-that-is-long-enough';
  const keys = [{ hash: await hashApiKey(key), subject: 'ada', scopes: [] }];
  const { hub, serving } = await served(config, keys, { port: 0, signals: false });
  onTestFinished(async () => {
    await serving.close();
    await hub.close();
  });
  await using client = await connect(serving.url, { auth: key });
  expect((await client.tools().all()).map(({ name }) => name)).toEqual(['web_search', 'notes_search']);
  expect((await client.callTool('notes_search')).text).toBe('noted');
  await expect(connect(serving.url, { auth: 'another key' })).rejects.toThrow();
});

test('the gateway by team of the guide shows each caller only its own servers', async () => {
  const config = await configOf({
    web: await behind({ search: 'found', delete_all: 'gone' }),
    notes: await behind({ search: 'noted' }),
  });
  const hub = byTeam(config);
  onTestFinished(() => hub.close());
  const seen = async (scopes: readonly string[]): Promise<readonly string[]> => {
    await using client = await connect(hub, {
      caller: { subject: 'ada', scopes, claims: { teams: ['web'] } },
    });
    return (await client.tools().all()).map(({ name }) => name);
  };
  expect(await seen([])).toEqual(['web_search']);
  expect(await seen(['delete'])).toEqual(['web_search', 'web_delete_all']);
});

test('the pinned gateway of the guide writes a lock file and tells what is new', async () => {
  const tools: Record<string, string> = { search: 'found' };
  const config = await configOf({ web: await behind(tools) });
  const lock = join(config, '..', 'mcp.lock.json');
  const told: string[] = [];
  for (const url of [undefined, await behind({ ...tools, leak: 'all' })]) {
    if (url !== undefined) await writeFile(config, JSON.stringify({ mcpServers: { web: { url } } }));
    const hub = pinned(config, lock, (message) => told.push(message));
    onTestFinished(() => hub.close());
    await using client = await connect(hub);
    expect((await client.tools().all()).map(({ name }) => name)).toEqual(['web_search']);
  }
  expect(told).toEqual(['web: the tool leak was added']);
  expect(Object.keys(JSON.parse(await readFile(lock, 'utf8')).servers)).toEqual(['web']);
});

test('the config beside the example has no mistakes', async () => {
  const { gateway } = await import('fullmcp/gateway');
  const path = new URL('../../../examples/gateway/mcp.json', import.meta.url);
  const before = process.env['TICKETS_TOKEN'];
  process.env['TICKETS_TOKEN'] = 'token';
  onTestFinished(() => {
    if (before === undefined) delete process.env['TICKETS_TOKEN'];
    else process.env['TICKETS_TOKEN'] = before;
  });
  const hub = gateway(path);
  await hub.start();
  expect(Object.keys(hub.servers())).toEqual(['files', 'tickets']);
  await hub.close();
});

test('the gateway with search of the guide lists two tools and the one that is always there', async () => {
  const config = await configOf({
    web: await behind({ search: 'found' }),
    notes: await behind({ search: 'noted' }),
  });
  const hub = searched(config);
  onTestFinished(() => hub.close());
  await using client = await connect(hub);
  const names = (await client.tools().all()).map(({ name }) => name);
  expect(names).toEqual(['search_tools', 'call_tool', 'web_search']);
  expect((await client.callTool('call_tool', { name: 'notes_search' })).text).toBe('noted');
});
