import {
  createServer,
  DefinitionError,
  defineWith,
  embed,
  inProcess,
  type Middleware,
  type Outcome,
  prompt,
  resource,
  resourceLink,
  stored,
  tool,
  user,
} from 'fullmcp';
import { testClient } from 'fullmcp/testing';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

const quiet = { version: '1.0.0', secret: 'x'.repeat(32), logger: () => undefined };
const textOf = (outcome: Outcome): string => (outcome['content'] as { text: string }[])[0]?.text ?? '';
const namesIn = (outcome: Outcome, field: string, key: string): unknown[] =>
  (outcome[field] as Record<string, unknown>[]).map((entry) => entry[key]);

function spy(seen: string[], name: string): Middleware {
  return async (call, next) => {
    seen.push(`${name} ${call.method} ${String(call.params['name'] ?? call.params['uri'])}`);
    return next(call);
  };
}

function weather() {
  return createServer({
    ...quiet,
    name: 'weather',
    tools: {
      forecast: tool({ input: z.object({ city: z.string() }), run: ({ city }) => `Sun in ${city}` }),
      report: tool({
        run: () => [resourceLink('log://today'), resourceLink('https://example.com/a')],
      }),
      both: tool({
        run: async (_input, ctx) => `${(await ctx.call('forecast', { city: 'Rome' })).content[0]}` && 'ok',
      }),
      reads: tool({ run: async (_input, ctx) => (await ctx.read('log://today'))[0] as never }),
    },
    resources: {
      'log://today': resource({ read: (_values, { uri }) => `read ${uri}` }),
      'city://{name}': resource({
        complete: { name: () => ['Rome', 'Oslo'] },
        list: () => ['city://Rome', { uri: 'city://Oslo', name: 'Oslo' }],
        read: ({ name }, { uri }) => ({ uri, text: `${name} at ${uri}`, mimeType: 'text/plain' }),
      }),
    },
    prompts: {
      describe: prompt({
        args: z.object({ city: z.string() }),
        complete: { city: () => ['Rome'] },
        run: ({ city }) => [user(`Describe ${city}`), user(embed('log://today', 'text'))],
      }),
    },
  });
}

describe('a mounted server', () => {
  it('has its tools, prompts and resources in the lists of the outer server, with the prefix', async () => {
    const main = createServer({ ...quiet, name: 'main', mount: { weather: weather() } });
    const call = inProcess(main);
    expect(namesIn(await call('tools/list'), 'tools', 'name')).toEqual([
      'weather_forecast',
      'weather_report',
      'weather_both',
      'weather_reads',
    ]);
    expect(namesIn(await call('prompts/list'), 'prompts', 'name')).toEqual(['weather_describe']);
    expect(namesIn(await call('resources/templates/list'), 'resourceTemplates', 'uriTemplate')).toEqual([
      'weather+city://{name}',
    ]);
    expect(namesIn(await call('resources/list'), 'resources', 'uri')).toEqual([
      'weather+log://today',
      'weather+city://Rome',
      'weather+city://Oslo',
    ]);
    const { capabilities } = await call('server/discover');
    expect(capabilities).toMatchObject({ tools: {}, resources: {}, prompts: {}, completions: {} });
  });

  it('answers calls, reads and completions under these names', async () => {
    const call = inProcess(createServer({ ...quiet, name: 'main', mount: { weather: weather() } }));
    expect(textOf(await call('tools/call', { name: 'weather_forecast', arguments: { city: 'Rome' } }))).toBe(
      'Sun in Rome',
    );
    await expect(call('tools/call', { name: 'forecast', arguments: { city: 'Rome' } })).rejects.toThrow(
      /Unknown tool/,
    );
    const invalid = await call('tools/call', { name: 'weather_forecast', arguments: {} });
    expect(textOf(invalid)).toContain('Invalid arguments for weather_forecast');
    const read = await call('resources/read', { uri: 'weather+log://today' });
    expect(read['contents']).toEqual([
      expect.objectContaining({ uri: 'weather+log://today', text: 'read log://today' }),
    ]);
    await expect(call('resources/read', { uri: 'log://today' })).rejects.toThrow(/Resource not found/);
    const city = await call('resources/read', { uri: 'weather+city://Oslo' });
    expect(city['contents']).toEqual([
      expect.objectContaining({ uri: 'weather+city://Oslo', text: 'Oslo at city://Oslo' }),
    ]);
    const ref = { type: 'ref/resource', uri: 'weather+city://{name}' };
    const completed = await call('completion/complete', { ref, argument: { name: 'name', value: '' } });
    expect(completed['completion']).toMatchObject({ values: ['Rome', 'Oslo'] });
    const ofPrompt = { type: 'ref/prompt', name: 'weather_describe' };
    const cities = await call('completion/complete', {
      ref: ofPrompt,
      argument: { name: 'city', value: '' },
    });
    expect(cities['completion']).toMatchObject({ values: ['Rome'] });
  });

  it('knows itself by its own names: in ctx.call and ctx.read, and in the URIs of its results', async () => {
    const call = inProcess(createServer({ ...quiet, name: 'main', mount: { weather: weather() } }));
    expect(textOf(await call('tools/call', { name: 'weather_both' }))).toBe('ok');
    const report = await call('tools/call', { name: 'weather_report' });
    expect(namesIn(report, 'content', 'uri')).toEqual(['weather+log://today', 'https://example.com/a']);
    const described = await call('prompts/get', { name: 'weather_describe', arguments: { city: 'Rome' } });
    const [, second] = described['messages'] as { content: { resource: { uri: string } } }[];
    expect(second?.content.resource.uri).toBe('weather+log://today');
  });

  it('speaks for the outer server in what clients see of the server', async () => {
    const call = inProcess(createServer({ ...quiet, name: 'main', mount: { weather: weather() } }));
    const own = await inProcess(
      createServer({ ...quiet, name: 'main', tools: { t: tool({ run: () => 'x' }) } }),
    )('tools/call', { name: 't' });
    const outcome = await call('tools/call', { name: 'weather_forecast', arguments: { city: 'Rome' } });
    expect(outcome['_meta']).toEqual(own['_meta']);
  });

  it('can be mounted at two levels, and twice', async () => {
    const inner = weather();
    const middle = createServer({ ...quiet, name: 'middle', mount: { weather: inner, '': inner } });
    const call = inProcess(createServer({ ...quiet, name: 'main', mount: { eu: middle } }));
    const names = namesIn(await call('tools/list'), 'tools', 'name');
    expect(names).toHaveLength(8);
    expect(names).toContain('eu_weather_forecast');
    expect(names).toContain('eu_forecast');
    const rome = { arguments: { city: 'Rome' } };
    expect(textOf(await call('tools/call', { name: 'eu_weather_forecast', ...rome }))).toBe('Sun in Rome');
    const read = await call('resources/read', { uri: 'eu+weather+log://today' });
    expect(read['contents']).toEqual([
      expect.objectContaining({ uri: 'eu+weather+log://today', text: 'read log://today' }),
    ]);
    const report = await call('tools/call', { name: 'eu_weather_report' });
    expect(namesIn(report, 'content', 'uri')).toEqual(['eu+weather+log://today', 'https://example.com/a']);
  });

  it('keeps its state, its user and its store, which live as long as the outer server', async () => {
    const events: string[] = [];
    const visits = stored({ name: 'visits', schema: z.number(), initial: 0 });
    const { tool: ownTool, createServer: create } = defineWith({
      lifespan: async function* () {
        events.push('open');
        yield { db: 'own' };
        events.push('close');
      },
      user: () => ({ id: 7 }),
    });
    const inner = create({
      ...quiet,
      name: 'inner',
      tools: {
        who: ownTool({
          run: async (_input, ctx) =>
            `${ctx.state.db} ${ctx.user.id} ${await ctx.store(visits).update((n) => n + 1)}`,
        }),
      },
    });
    const main = createServer({
      ...quiet,
      name: 'main',
      lifespan: async function* () {
        yield { db: 'outer' };
      },
      mount: { inner },
      tools: {
        outer: tool({ run: async (_input, ctx) => textOf({ ...(await ctx.call('inner_who')) } as never) }),
      },
    });
    await main.start();
    expect(events).toEqual(['open']);
    const call = inProcess(main);
    expect(textOf(await call('tools/call', { name: 'inner_who' }))).toBe('own 7 1');
    expect(textOf(await call('tools/call', { name: 'outer' }))).toBe('own 7 2');
    await main.close();
    expect(events).toEqual(['open', 'close']);
  });

  it('keeps its middleware, which sees its own names, inside that of the outer server', async () => {
    const seen: string[] = [];
    const inner = createServer({
      ...quiet,
      name: 'inner',
      use: [spy(seen, 'inner')],
      tools: { a: tool({ use: [spy(seen, 'tool')], run: () => 'a' }) },
      resources: { 'x://y': resource({ read: () => 'y' }) },
      prompts: { p: prompt({ run: () => 'p' }) },
    });
    const middle = createServer({ ...quiet, name: 'middle', use: [spy(seen, 'middle')], mount: { inner } });
    const main = createServer({ ...quiet, name: 'main', use: [spy(seen, 'main')], mount: { middle } });
    const call = inProcess(main);
    await call('tools/call', { name: 'middle_inner_a' });
    expect(seen).toEqual([
      'main tools/call middle_inner_a',
      'middle tools/call inner_a',
      'inner tools/call a',
      'tool tools/call a',
    ]);
    seen.length = 0;
    await call('resources/read', { uri: 'middle+inner+x://y' });
    expect(seen).toEqual([
      'main resources/read middle+inner+x://y',
      'middle resources/read inner+x://y',
      'inner resources/read x://y',
    ]);
    seen.length = 0;
    await call('prompts/get', { name: 'middle_inner_p' });
    expect(seen).toEqual([
      'main prompts/get middle_inner_p',
      'middle prompts/get inner_p',
      'inner prompts/get p',
    ]);
  });

  it('serves its own methods', async () => {
    const inner = createServer({
      ...quiet,
      name: 'inner',
      lifespan: async function* () {
        yield { db: 'own' };
      },
      methods: { 'acme/db': { run: (_params, ctx) => ({ db: (ctx.state as { db: string }).db }) } },
    });
    const main = createServer({ ...quiet, name: 'main', mount: { inner } });
    expect(await inProcess(main)('acme/db')).toMatchObject({ db: 'own' });
  });

  it.each([
    ['a b', weather(), /a prefix has 1 to 32 letters/],
    ['x', {} as never, /it is not a server/],
  ])('is refused with the prefix %j if that cannot work', (prefix, server, message) => {
    expect(() => createServer({ ...quiet, name: 'main', mount: { [prefix]: server } })).toThrow(message);
  });

  it.each([[[weather()]], ['weather'], [null]])('is refused without a prefix: %#', (mount) => {
    expect(() => createServer({ ...quiet, name: 'main', mount: mount as never })).toThrow(
      '"mount" must be an object with the prefixes as keys',
    );
  });

  it('is refused if a name is taken, or if its "auth" would not count', () => {
    const tools = { weather_forecast: tool({ run: () => 'mine' }) };
    expect(() => createServer({ ...quiet, name: 'main', tools, mount: { weather: weather() } })).toThrow(
      DefinitionError,
    );
    expect(() =>
      createServer({ ...quiet, name: 'main', mount: { a_b: weather(), 'a-b': weather() } }),
    ).toThrow(/could not be told from/);
    const guarded = createServer({
      ...quiet,
      name: 'inner',
      auth: () => undefined,
      tools: { t: tool({ run: () => 'x' }) },
    });
    expect(() => createServer({ ...quiet, name: 'main', mount: { guarded } })).toThrow(/"auth"/);
    const main = createServer({ ...quiet, name: 'main', mount: { a: weather() } });
    expect(() => main.mount('self', main)).toThrow(/mounted in itself/);
    expect(() => main.mount('a', weather())).toThrow(/another server is mounted/);
  });
});

it('tells clients of 2025-11-25 that a mounted tool can run as a task', async () => {
  const inner = createServer({
    ...quiet,
    name: 'inner',
    tools: { slow: tool({ task: 'optional', run: () => 'done' }) },
  });
  const outer = createServer({ ...quiet, name: 'outer', mount: { inner } });
  await using client = await testClient(outer, { over: 'http', revision: '2025-11-25' });
  const { tools } = await client.request('tools/list');
  expect(tools).toMatchObject([{ name: 'inner_slow', execution: { taskSupport: 'optional' } }]);
});

it('names a mounted tool that takes too long as its caller knows it', async () => {
  const inner = createServer({
    ...quiet,
    name: 'inner',
    tools: {
      slow: tool({
        timeoutMs: 5,
        run: (_input, { signal }) =>
          new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
      }),
    },
  });
  const outer = createServer({ ...quiet, name: 'outer', mount: { inner } });
  expect(textOf(await inProcess(outer)('tools/call', { name: 'inner_slow' }))).toMatch(
    /^inner_slow took longer/,
  );
});
