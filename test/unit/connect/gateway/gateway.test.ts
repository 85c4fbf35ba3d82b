import { prompt, resource, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { gateway } from 'fullmcp/gateway';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { serve } from '../../../../src/node.js';
import { soon, until } from '../../../support/until.js';
import { configOf, gatewayTo, serverWith, textOf, toolNames } from './gateway-servers.js';

const say = (text: string) => tool({ run: () => text });

describe('a gateway', () => {
  test('presents several servers as one', async () => {
    const web = serverWith({
      instructions: 'Search first.',
      tools: { search: say('found') },
      prompts: {
        ask: prompt({ args: z.object({ topic: z.string() }), run: ({ topic }) => `About ${topic}` }),
      },
    });
    const notes = serverWith({
      tools: { search: say('noted') },
      resources: { 'note://one': resource({ read: () => 'the first note' }) },
    });
    const { client } = await gatewayTo({ web, notes }, { name: 'hub', instructions: 'Two servers.' });
    expect(await toolNames(client)).toEqual(['web_search', 'notes_search']);
    expect(await textOf(client, 'web_search')).toBe('found');
    expect(await textOf(client, 'notes_search')).toBe('noted');
    const { messages } = await client.getPrompt('web_ask', { topic: 'tea' });
    expect(JSON.stringify(messages)).toContain('About tea');
    const read = await client.readResource('note://one');
    expect(JSON.stringify(read)).toContain('the first note');
    await expect(client.callTool('other_search')).rejects.toThrow(
      'Names begin with the name of their server',
    );
    const later = await connect({ dispatch: (await gatewayTo({ web, notes })).hub.dispatch });
    onTestFinished(() => later.close());
    expect(client.server.info?.name).toBe('hub');
    expect(client.server.instructions).toBe('Two servers.');
  });

  test('starts a server when it is first needed, and says how each of them is', async () => {
    const opened: string[] = [];
    const note = (name: string) => {
      const server = serverWith({ tools: { go: say(name) } });
      return {
        dispatch: (call: Parameters<typeof server.dispatch>[0]) => {
          opened.push(name);
          return server.dispatch(call);
        },
      };
    };
    const { hub, client } = await gatewayTo({ one: note('one'), two: note('two') });
    await textOf(client, 'two_go');
    expect(new Set(opened)).toEqual(new Set(['two']));
    expect(hub.servers()).toMatchObject({ one: { status: 'idle' }, two: { status: 'ready', openCalls: 0 } });
  });

  test('leaves a server that cannot be reached out of lists, and announces it when it is there', async () => {
    const there = await serve(serverWith({ tools: { go: say('went') } }), { port: 0, signals: false });
    const { port } = new URL(there.url);
    await there.close();
    const here = serverWith({ tools: { go: say('stayed') } });
    const { hub, client, log } = await gatewayTo({ here, there: `http://127.0.0.1:${port}/mcp` });
    let changes = 0;
    await using _subscription = await client.subscribe({ tools: true }, { onChange: () => changes++ });
    expect(await toolNames(client)).toEqual(['here_go']);
    expect(log.join('\n')).toMatch(/^there: .*it is left out of lists$/m);
    expect(hub.servers()['there']).toMatchObject({ status: 'failed' });
    await expect(client.callTool('there_go')).rejects.toThrow(/^there: /);

    const again = await serve(serverWith({ tools: { go: say('went') } }), {
      ...{ port: Number(port), signals: false },
    });
    onTestFinished(() => again.close());
    await until('the server is used again', () =>
      textOf(client, 'there_go').then(
        (text) => text === 'went',
        () => false,
      ),
    );
    await until('the change was announced', () => changes > 0);
    expect(await toolNames(client)).toEqual(['here_go', 'there_go']);
    expect(hub.servers()['there']).toMatchObject({ status: 'ready' });
  });

  test.each(['in the same program', 'over HTTP'])(
    'reports a server that does not start once, for callers %s, and names it in the error of a call',
    async (where) => {
      const told: unknown[][] = [];
      const broken = { command: process.execPath, args: ['-e', 'process.exit(3)'] };
      const here = serverWith({ tools: { go: say('stayed') } });
      const hub = gateway(
        { mcpServers: { here: { target: here }, broken } },
        { logger: (_level, ...rest) => told.push(rest.filter((part) => part !== undefined)) },
      );
      onTestFinished(() => hub.close());
      const serving = await serve(hub, { port: 0, signals: false });
      onTestFinished(() => serving.close());
      const client = await connect(where === 'over HTTP' ? serving.url : hub);
      onTestFinished(() => client.close());
      expect(await toolNames(client)).toEqual(['here_go']);
      const lists = [client.prompts(), client.resources(), client.templates(), client.tools()];
      await Promise.all(lists.map((list) => list.all()));
      await expect(client.callTool('broken_go')).rejects.toThrow(/^broken: The (server|connection)/);
      expect(told).toHaveLength(1);
      expect(told[0]).toEqual([expect.stringMatching(/^broken: The server .* has ended with exit code 3/)]);
    },
  );

  test('refuses calls to a server that fails again and again, and lets the others be', async () => {
    let isBroken = true;
    const real = serverWith({ tools: { go: say('went') } });
    const flaky = {
      dispatch: async (call: Parameters<typeof real.dispatch>[0]) => {
        if (isBroken && call.method === 'tools/call') {
          const { McpError } = await import('fullmcp');
          throw new McpError('timeout', 'nothing came');
        }
        return real.dispatch(call);
      },
    };
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const breaker = { failures: 2, openMs: 60_000 };
    const { hub, client } = await gatewayTo({ flaky, fine: real }, { breaker });
    for (let n = 0; n < 2; n++) await expect(client.callTool('flaky_go')).rejects.toThrow('nothing came');
    expect(hub.servers()['flaky']?.isOpenCircuit).toBe(true);
    const raw = await connect(hub, { maxRetries: 0 });
    onTestFinished(() => raw.close());
    await expect(raw.callTool('flaky_go')).rejects.toThrow('was not made');
    expect(await textOf(client, 'fine_go')).toBe('went');
    isBroken = false;
    vi.advanceTimersByTime(breaker.openMs - 1);
    await expect(raw.callTool('flaky_go')).rejects.toThrow('was not made');
    vi.advanceTimersByTime(1);
    expect(await textOf(raw, 'flaky_go')).toBe('went');
    expect(hub.servers()['flaky']?.isOpenCircuit).toBe(false);
  });

  test('closes the connection of a server that does not answer, so that the next call starts it anew', async () => {
    let isSilent = false;
    const real = serverWith({ tools: { go: say('went') } });
    const silent = {
      dispatch: (call: Parameters<typeof real.dispatch>[0]) =>
        isSilent && call.method === 'server/discover' ? new Promise<never>(() => {}) : real.dispatch(call),
    };
    const { hub, client } = await gatewayTo({ silent }, { healthMs: 300 });
    expect(await textOf(client, 'silent_go')).toBe('went');
    await until('it was asked', () => hub.servers()['silent']?.isHealthy === true);
    isSilent = true;
    await until('it is known to be silent', () => hub.servers()['silent']?.status === 'idle');
    isSilent = false;
    expect(await textOf(client, 'silent_go')).toBe('went');
    expect(hub.servers()['silent']?.status).toBe('ready');
  });

  test('waits `listTimeoutMs` for the list of a server, and answers with those of the others', async () => {
    const real = serverWith({ tools: { go: say('went') } });
    const silent = {
      dispatch: (call: Parameters<typeof real.dispatch>[0]) =>
        call.method === 'tools/list' ? new Promise<never>(() => {}) : real.dispatch(call),
    };
    const { client, log } = await gatewayTo({ silent, fine: real }, { listTimeoutMs: 200 });
    expect(await soon('the list', toolNames(client), 15_000)).toEqual(['fine_go']);
    expect(log.join('\n')).toMatch(/^silent: .*200 ms/m);
  });

  test('reports mistakes at once', () => {
    expect(() => gateway({ mcpServers: { 'a b': { url: 'http://localhost/' } } })).toThrow('a b');
    expect(() => gateway(configOf({}), { watchMs: 100 })).toThrow('not a file');
    expect(() => gateway(configOf({}), { wacthMs: 100 } as never)).toThrow('Did you mean "watchMs"?');
  });

  test('shows a caller only what the rule allows, and calls nothing else', async () => {
    const files = serverWith({
      tools: { read: say('text'), erase: say('gone') },
      resources: { 'file:///a': resource({ read: () => 'a' }), 'file:///b': resource({ read: () => 'b' }) },
      prompts: { sum: prompt({ run: () => 'Sum up' }), leak: prompt({ run: () => 'Tell all' }) },
    });
    const hub = gateway(configOf({ files }), {
      logger: () => undefined,
      allow: ({ name }, caller) =>
        caller?.claims['role'] === 'admin' || !['erase', 'file:///b', 'leak'].includes(name),
    });
    onTestFinished(() => hub.close());
    const as = async (role: string) => {
      const client = await connect(hub, { caller: { subject: role, scopes: [], claims: { role } } });
      onTestFinished(() => client.close());
      return client;
    };
    const guest = await as('guest');
    const admin = await as('admin');
    expect(await toolNames(guest)).toEqual(['files_read']);
    expect(await toolNames(admin)).toEqual(['files_read', 'files_erase']);
    await expect(guest.callTool('files_erase')).rejects.toThrow('Unknown tool: erase');
    expect(await textOf(admin, 'files_erase')).toBe('gone');
    expect((await guest.resources().all()).map(({ uri }) => uri)).toEqual(['file:///a']);
    await expect(guest.readResource('file:///b')).rejects.toThrow('not found');
    await expect(guest.getPrompt('files_leak')).rejects.toThrow('Unknown prompt');
    expect((await guest.prompts().all()).map(({ name }) => name)).toEqual(['files_sum']);
    const subscription = await guest.subscribe({ uris: ['file:///b'] }, { onChange: () => undefined });
    expect(subscription.accepted.uris ?? []).toEqual([]);
    await subscription.close();
  });
});
