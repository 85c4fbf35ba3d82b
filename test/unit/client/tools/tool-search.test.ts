import { type Call, createServer, type Dispatch, tool } from 'fullmcp';
import { testClient } from 'fullmcp/testing';
import { toolSearch } from 'fullmcp/tools';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { until } from '../../../support/until.js';

const quiet = { version: '1.0.0', secret: 'x'.repeat(32), logger: () => undefined };

function shop() {
  return createServer({
    ...quiet,
    name: 'shop',
    changes: true,
    listTtlMs: 0,
    tools: {
      get_forecast: tool({
        description: 'The weather',
        tags: ['sky'],
        input: z.object({ city: z.string() }),
        run: ({ city }) => `sunny in ${city}`,
      }),
      create_invoice: tool({ description: 'Bills a customer', run: () => 'written' }),
    },
  });
}

describe('toolSearch', () => {
  it('finds and calls the tools of a client', async () => {
    await using client = await testClient(shop());
    const search = await toolSearch(client);
    expect((await search.search('weather')).map(({ tool: { name } }) => name)).toEqual(['get_forecast']);
    expect((await search.search('sky'))[0]?.tool.name).toBe('get_forecast');
    const found = await search.call('search_tools', { query: 'bill customers' });
    expect(found.data).toMatchObject({
      tools: [{ name: 'create_invoice', description: 'Bills a customer' }],
    });
    expect(JSON.parse(found.text)).toEqual(found.data);
    const args = { name: 'get_forecast', arguments: { city: 'Rome' } };
    expect((await search.call('call_tool', args)).text).toBe('sunny in Rome');
    const written = { name: 'get_forecast', arguments: '{"city":"Oslo"}' };
    expect((await search.call('call_tool', written)).text).toBe('sunny in Oslo');
    const nested = { name: 'search_tools', arguments: { query: 'weather' } };
    expect((await search.call('call_tool', nested)).isError).toBe(false);
  });

  it('tells the model what is wrong with its call', async () => {
    await using client = await testClient(shop());
    const search = await toolSearch(client);
    for (const args of [{}, { name: 'call_tool' }, { name: 'get_forecast', arguments: 'Rome' }])
      expect((await search.call('call_tool', args)).isError).toBe(true);
    for (const args of [{}, { query: '' }, { query: 'x'.repeat(501) }, { query: 5 }])
      expect((await search.call('search_tools', args)).isError).toBe(true);
    expect((await search.call('search_tools', { query: 'zebra' })).data).toEqual({
      tools: [],
      hint: 'No tool was found. Try other words.',
    });
  });

  it('gives the model the same tools, whatever the server adds, removes and announces', async () => {
    const server = shop();
    await using client = await testClient(server);
    const search = await toolSearch(client, { always: ['create_invoice', 'no_such_tool'], maxAgeMs: 0 });
    const before = JSON.stringify(search.tools);
    expect(search.tools.map(({ name }) => name)).toEqual(['search_tools', 'call_tool', 'create_invoice']);
    const added = server.tool('play_song', { description: 'Plays music' }, () => 'la');
    await until('the new tool is found', async () => (await search.search('music')).length === 1);
    added.remove();
    await until('the tool is gone', async () => (await search.search('music')).length === 0);
    expect(JSON.stringify(search.tools)).toBe(before);
    expect(Object.isFrozen(search.tools)).toBe(true);
  });

  it('lists the tools once within their age, and again after a failure', async () => {
    let lists = 0;
    let fails = false;
    const server = shop();
    await using client = await testClient(server, {
      cache: false,
      use: [
        (call: Call, next: Dispatch) => {
          if (call.method === 'tools/list') lists += 1;
          if (call.method === 'tools/list' && fails) throw new TypeError('no list');
          return next(call);
        },
      ],
    } as never);
    const search = await toolSearch(client, { maxAgeMs: 100_000 });
    for (const query of ['weather', 'bill', 'sky']) await search.search(query);
    expect(lists).toBe(1);
    const short = await toolSearch(client, { maxAgeMs: 0 });
    fails = true;
    await until('a list has failed', () =>
      short.search('weather').then(
        () => false,
        () => true,
      ),
    );
    fails = false;
    expect(await short.search('weather')).toHaveLength(1);
  });

  it('refuses a server that searches itself, and mistakes in its options', async () => {
    await using client = await testClient(createServer({ ...quiet, name: 's', search: true }));
    await expect(toolSearch(client)).rejects.toThrow(/it searches its tools itself/);
    await using other = await testClient(shop());
    await expect(toolSearch(other, { limit: 0 })).rejects.toThrow(/toolSearch: "limit"/);
    await expect(toolSearch(other, { always: 'x' as never })).rejects.toThrow(/array of strings/);
    await expect(toolSearch(other, { top: 1 } as never)).rejects.toThrow(/no option "top"/);
  });
});
