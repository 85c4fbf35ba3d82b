import { type Call, type Dispatch, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { type GatewayOptions, gateway } from 'fullmcp/gateway';
import { proxy } from 'fullmcp/proxy';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { configOf, gatewayTo, serverWith, textOf, toolNames } from './gateway-servers.js';

const say = (text: string, description?: string) =>
  tool({ ...(description !== undefined && { description }), run: () => text });

function office() {
  return serverWith({
    listTtlMs: 0,
    tools: {
      create_invoice: say('billed', 'Bills a customer'),
      get_forecast: tool({
        description: 'The weather',
        tags: ['sky'],
        input: z.object({ city: z.string() }),
        run: ({ city }) => `sunny in ${city}`,
      }),
    },
  });
}

type Calling = Parameters<typeof textOf>[0];

async function found(client: Calling, query: string, more: object = {}): Promise<readonly string[]> {
  const { data } = await client.callTool('search_tools', { query, ...more });
  return (data as { tools: { name: string }[] }).tools.map(({ name }) => name);
}

describe('a gateway with search', () => {
  test('lists two tools that find and call those of all servers', async () => {
    const { client } = await gatewayTo(
      { office: office(), web: serverWith({ tools: { find: say('page', 'Finds pages') } }) },
      { search: true },
    );
    expect(await toolNames(client)).toEqual(['search_tools', 'call_tool']);
    expect(await found(client, 'bill customers')).toEqual(['office_create_invoice']);
    expect(await found(client, 'sky')).toEqual(['office_get_forecast']);
    expect(await found(client, 'web_find', { limit: 1 })).toEqual(['web_find']);
    const args = { name: 'office_get_forecast', arguments: { city: 'Rome' } };
    expect(await textOf(client, 'call_tool', args)).toBe('sunny in Rome');
    expect(await textOf(client, 'web_find')).toBe('page');
    const nested = { name: 'search_tools', arguments: { query: 'weather' } };
    expect(await textOf(client, 'call_tool', nested)).toContain('office_get_forecast');
    const none = await client.callTool('search_tools', { query: 'zebra' });
    expect(none.data).toEqual({ tools: [], hint: 'No tool was found. Try other words.' });
  });

  test('tells the model what is wrong with its call', async () => {
    const { client } = await gatewayTo({ office: office() }, { search: true });
    for (const args of [{}, { name: 'call_tool' }, { name: 7 }, { name: 'office_find', arguments: 'x' }])
      expect((await client.callTool('call_tool', args)).isError).toBe(true);
    for (const args of [{}, { query: '' }, { query: 'x'.repeat(501) }, { query: ['a'] }])
      expect((await client.callTool('search_tools', args)).isError).toBe(true);
    for (const limit of [0, -1, 1.5, 'many', null, {}])
      expect(await found(client, 'weather', { limit })).toEqual(['office_get_forecast']);
    await expect(client.callTool('call_tool', { name: '__proto__' })).rejects.toThrow();
  });

  test('lists those of `always` beside the two, and ranks with `rank`', async () => {
    const seen: (readonly unknown[])[] = [];
    const { client, log } = await gatewayTo(
      { office: office() },
      {
        search: {
          always: ['office_create_invoice', 'no_such_tool'],
          limit: 1,
          rank({ query, tools, found: byWords }) {
            seen.push(tools);
            if (query === 'fail') throw new TypeError('no vectors');
            return ['hidden', ...tools.map(({ name }) => name).reverse(), ...byWords];
          },
        },
      },
    );
    expect(await toolNames(client)).toEqual(['search_tools', 'call_tool', 'office_create_invoice']);
    expect(await found(client, 'bill')).toEqual(['office_get_forecast']);
    expect(await found(client, 'bill')).toEqual(['office_get_forecast']);
    expect(seen[0]).toBe(seen[1]);
    expect(await found(client, 'fail')).toEqual([]);
    expect(log.join('\n')).toContain('"search.rank" failed');
  });

  test('finds only what the caller may use, and asks the questions of a tool', async () => {
    const ask = tool({
      description: 'Asks the user',
      async run(_input, ctx) {
        const { name } = await ctx.ask('name', { message: 'Who?', schema: z.object({ name: z.string() }) });
        return `Hello ${name}`;
      },
    });
    const hub = gateway(configOf({ office: office(), people: serverWith({ tools: { ask } }) }), {
      logger: () => undefined,
      search: true,
      allow: ({ name }) => name !== 'create_invoice',
    });
    onTestFinished(() => hub.close());
    const client = await connect(hub, {
      elicit: { form: () => ({ action: 'accept', content: { name: 'Ada' } }) },
    });
    onTestFinished(() => client.close());
    expect(await found(client, 'bill a customer')).toEqual([]);
    await expect(client.callTool('call_tool', { name: 'office_create_invoice' })).rejects.toThrow(
      /Unknown tool/,
    );
    expect(await textOf(client, 'call_tool', { name: 'people_ask' })).toBe('Hello Ada');
  });

  test('shows middleware the tools that are called, and searches only what middleware lists', async () => {
    const called: unknown[] = [];
    const { client } = await gatewayTo({ office: office() }, {
      search: true,
      use: [
        async (call: Call, next: Dispatch) => {
          if (call.method === 'tools/call') called.push(call.params['name']);
          const outcome = await next(call);
          return call.method === 'tools/list'
            ? {
                ...outcome,
                tools: (outcome['tools'] as { name: string }[]).filter(
                  ({ name }) => !name.endsWith('invoice'),
                ),
              }
            : outcome;
        },
      ],
    } as GatewayOptions);
    expect(await found(client, 'bill a customer')).toEqual([]);
    await client.callTool('call_tool', { name: 'office_get_forecast', arguments: { city: 'Rome' } });
    expect(called).toEqual(['office_get_forecast']);
  });

  test('follows servers that change, and searches of many callers at once', async () => {
    const server = office();
    const { client } = await gatewayTo({ office: server }, { search: true });
    expect(await found(client, 'music')).toEqual([]);
    const added = server.tool('play_song', { description: 'Plays music' }, () => 'la');
    const all = await Promise.all(Array.from({ length: 20 }, () => found(client, 'music')));
    expect(new Set(all.map(String))).toEqual(new Set(['office_play_song']));
    added.remove();
    expect(await found(client, 'music')).toEqual([]);
  });

  test('hides tools that have the names of its own, and says so once', async () => {
    const search = serverWith({ tools: { tools: say('theirs', 'Cleans windows') } });
    const { client, log } = await gatewayTo({ search }, { search: true });
    expect(await found(client, 'search_tools')).toEqual([]);
    expect(await found(client, 'windows')).toEqual([]);
    expect(log.filter((line) => line.includes('cannot be used'))).toHaveLength(1);
  });

  test('survives lists of a hostile server, and limits its results', async () => {
    const long = 'paint '.repeat(20_000);
    const tools = [
      ...Array.from({ length: 20 }, (_, at) => ({ name: `paint_${at}`, description: long, inputSchema: {} })),
      ...[
        null,
        7,
        { name: 5 },
        { name: '__proto__', description: 'paint' },
        { name: 'constructor', inputSchema: 3 },
      ],
    ];
    const hostile: Dispatch = async ({ method, params }) => {
      if (method === 'server/discover')
        return { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: { tools: {} } };
      if (method === 'tools/list') return { resultType: 'complete', tools: tools as never };
      return { resultType: 'complete', content: [{ type: 'text', text: String(params['name']) }] };
    };
    const { client } = await gatewayTo({ bad: { dispatch: hostile } as never }, { search: true });
    const { text } = await client.callTool('search_tools', { query: 'paint', limit: 50 });
    expect(text.length).toBeLessThan(250_000);
    expect((await found(client, 'bad___proto__'))[0]).toBe('bad___proto__');
    expect(await textOf(client, 'call_tool', { name: 'bad___proto__' })).toBe('__proto__');
    const words = `(a+)+$ \\ [ ] * \u0000 \u202e ${'a'.repeat(470)}`;
    expect((await client.callTool('search_tools', { query: words })).isError).toBe(false);
  });

  test('passes on the failure of a list, and works again afterwards', async () => {
    let fails = true;
    const { client } = await gatewayTo(
      { office: office() },
      {
        search: true,
        use: [
          (call: Call, next: Dispatch) => {
            if (fails && call.method === 'tools/list') throw new TypeError('no list');
            return next(call);
          },
        ],
      },
    );
    await expect(client.callTool('search_tools', { query: 'weather' })).rejects.toThrow();
    fails = false;
    expect(await found(client, 'weather')).toEqual(['office_get_forecast']);
  });

  test('refuses options that it does not have', () => {
    for (const search of [
      { limit: 0 },
      { limit: 51 },
      { always: 'x' },
      { rank: 1 },
      { rankTimeoutMs: 0 },
      5,
      null,
    ])
      expect(() => gateway(configOf({}), { search } as never), String(search)).toThrow(/^gateway: "search/);
    expect(() => gateway(configOf({}), { search: { max: 5 } } as never)).toThrow(
      /gateway has no option "search\.max"/,
    );
  });
});

describe('a proxy with search', () => {
  test('lists two tools that find and call those of its server by their own names', async () => {
    const server = proxy(office(), { search: { always: ['get_forecast'] }, logger: () => undefined });
    const client = await connect(server);
    onTestFinished(() => client.close());
    expect(await toolNames(client)).toEqual(['search_tools', 'call_tool', 'get_forecast']);
    expect(await found(client, 'bill')).toEqual(['create_invoice']);
    expect(await textOf(client, 'call_tool', { name: 'create_invoice' })).toBe('billed');
    expect(() => proxy(office(), { search: { limit: 99 } })).toThrow(/^proxy: "search.limit/);
  });
});
