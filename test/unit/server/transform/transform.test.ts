import {
  createServer,
  DefinitionError,
  inProcess,
  jsonSchema,
  type Middleware,
  type Outcome,
  prompt,
  resource,
  ToolError,
  tool,
} from 'fullmcp';
import { testClient } from 'fullmcp/testing';
import { transform } from 'fullmcp/transform';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

const quiet = { version: '1.0.0', secret: 'x'.repeat(32), logger: () => undefined };
const textOf = (outcome: Outcome): string => (outcome['content'] as { text: string }[])[0]?.text ?? '';

const seen: unknown[] = [];
const spy: Middleware = async (call, next) => {
  seen.push([call.params['name'], call.params['arguments']]);
  return next(call);
};

function definitions() {
  return {
    tools: {
      forecast: tool({
        title: 'Forecast',
        description: 'The forecast',
        input: z.strictObject({
          city: z.string(),
          days: z.int().max(14),
          unit: z.enum(['c', 'f']).optional(),
        }),
        use: [spy],
        run: ({ city, days, unit = 'c' }) => `${city} ${days} ${unit}`,
      }),
      open: tool({
        task: 'optional',
        input: jsonSchema<{ tenant: string; note?: string }>({
          type: 'object',
          properties: { tenant: { type: 'string' }, note: { type: 'string' } },
          required: ['tenant'],
        }),
        run: (input) => JSON.stringify(input),
      }),
      debug: tool({ tags: ['internal'], run: () => 'debugged' }),
    },
    resources: {
      'config://app': resource({ read: () => 'config' }),
      'config://{part}': resource({
        complete: { part: () => ['app'] },
        list: () => ['config://app', 'config://listed'],
        read: ({ part }: { part: string }) => `part ${part}`,
      }),
    },
    prompts: {
      review: prompt({
        args: z.object({ code: z.string(), style: z.string() }),
        complete: {
          code: (_prefix, filled) => [JSON.stringify(filled)],
          style: () => ['terse'],
        },
        run: ({ code, style }) => `${code} ${style}`,
      }),
      secret: prompt({
        args: z.object({ a: z.string() }),
        complete: { a: () => ['x'] },
        run: () => 'secret',
      }),
    },
  };
}

type Change = Parameters<typeof transform<ReturnType<typeof definitions>, never>>[1];

/** The two forms: definitions that are changed before they are served, and a server that is mounted. */
const forms = {
  definitions: (changes: object) =>
    createServer({ ...quiet, name: 'own', ...transform(definitions(), changes as Change) }),
  'a mounted server': (changes: object) => {
    const inner = createServer({ ...quiet, name: 'inner', ...definitions() });
    return createServer({ ...quiet, name: 'outer', mount: { '': transform(inner, changes as never) } });
  },
  'a server that is mounted twice': (changes: object) => {
    const inner = createServer({ ...quiet, name: 'inner', ...definitions() });
    const middle = createServer({
      ...quiet,
      name: 'middle',
      mount: { '': transform(inner, changes as never) },
    });
    return createServer({ ...quiet, name: 'outer', mount: { '': middle } });
  },
};

type Link = ReturnType<typeof inProcess>;
const listed = async (
  server: Link,
  kind: 'tools' | 'prompts' | 'resources',
): Promise<Record<string, unknown>[]> => (await server(`${kind}/list`))[kind] as Record<string, unknown>[];
const call = (server: Link, name: string, args?: object): Promise<Outcome> =>
  server('tools/call', { name, ...(args && { arguments: args }) });

describe.each(Object.entries(forms))('transform of %s', (_form, build) => {
  const serve = (changes: object): Link => inProcess(build(changes));

  it('renames, describes and tags a tool, whose old name is unknown then', async () => {
    const server = serve({
      tools: { forecast: { name: 'weather', title: 'Weather', description: 'New', tags: ['a'] } },
    });
    const [weather] = await listed(server, 'tools');
    expect(weather).toMatchObject({
      name: 'weather',
      title: 'Weather',
      description: 'New',
      _meta: { 'fullmcp/tags': ['a'] },
    });
    expect(textOf(await call(server, 'weather', { city: 'Rome', days: 1 }))).toBe('Rome 1 c');
    await expect(call(server, 'forecast', { city: 'Rome', days: 1 })).rejects.toThrow(
      'Unknown tool: forecast',
    );
    expect(textOf(await call(server, 'weather', {}))).toMatch(/Invalid arguments for weather/);
  });

  it('leaves the middleware of a tool in place, whatever is changed', async () => {
    const changes = [
      { title: 'Weather' },
      { name: 'forecast' },
      { tags: ['a'] },
      { allow: () => true },
      { args: { unit: { value: 'f' } } },
      { run: (_input: unknown, _ctx: unknown, next: () => Promise<unknown>) => next() },
    ];
    for (const change of changes) {
      seen.length = 0;
      await call(serve({ tools: { forecast: change } }), 'forecast', { city: 'Rome', days: 1 });
      expect(seen, JSON.stringify(change)).toHaveLength(1);
    }
  });

  it('hides definitions by name and by tag, and nothing can use them', async () => {
    const server = serve({
      every: ({ tags }: { tags: string[] }) => (tags.includes('internal') ? { hidden: true } : undefined),
      prompts: { secret: { hidden: true } },
      resources: { 'config://app': { hidden: true } },
    });
    expect((await listed(server, 'tools')).map(({ name }) => name)).toEqual(['forecast', 'open']);
    expect((await listed(server, 'prompts')).map(({ name }) => name)).toEqual(['review']);
    expect((await listed(server, 'resources')).map(({ uri }) => uri)).toEqual(['config://listed']);
    await expect(call(server, 'debug')).rejects.toThrow('Unknown tool: debug');
    await expect(server('prompts/get', { name: 'secret' })).rejects.toThrow('Unknown prompt');
    await expect(
      server('completion/complete', {
        ref: { type: 'ref/prompt', name: 'secret' },
        argument: { name: 'a', value: '' },
      }),
    ).rejects.toThrow('Unknown prompt');
    // A template that matches the URI does not read it either: the hidden resource decided before, and does so now.
    await expect(server('resources/read', { uri: 'config://app' })).rejects.toThrow('Resource not found');
    expect(await server('resources/read', { uri: 'config://other' })).toMatchObject({
      contents: [{ text: 'part other' }],
    });
  });

  it('hides a template, and what only it could read', async () => {
    const server = serve({ resources: { 'config://{part}': { hidden: true } } });
    await expect(server('resources/read', { uri: 'config://other' })).rejects.toThrow('Resource not found');
    await expect(
      server('completion/complete', {
        ref: { type: 'ref/resource', uri: 'config://{part}' },
        argument: { name: 'part', value: '' },
      }),
    ).rejects.toThrow('Unknown resource template');
    expect(await server('resources/read', { uri: 'config://app' })).toMatchObject({
      contents: [{ text: 'config' }],
    });
  });

  it('renames, defaults, describes and fixes arguments, in the list and in calls', async () => {
    const server = serve({
      tools: {
        forecast: {
          args: {
            city: { name: 'place', description: 'A place' },
            days: { default: 3 },
            unit: { value: 'f' },
          },
        },
      },
    });
    const [tool] = await listed(server, 'tools');
    expect(tool?.['inputSchema']).toEqual({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        place: { type: 'string', description: 'A place' },
        days: { type: 'integer', minimum: -9007199254740991, maximum: 14, default: 3 },
      },
      required: ['place'],
      additionalProperties: false,
    });
    seen.length = 0;
    expect(textOf(await call(server, 'forecast', { place: 'Rome' }))).toBe('Rome 3 f');
    // Middleware of the tool sees the arguments of its handler.
    expect(seen).toEqual([['forecast', { city: 'Rome', days: 3, unit: 'f' }]]);
    expect(textOf(await call(server, 'forecast', { place: 'Rome', days: '5' }))).toBe('Rome 5 f');
    const refused = await call(server, 'forecast', { place: 'Rome', unit: 'c' });
    expect(refused['isError']).toBe(true);
    expect(textOf(refused)).toMatch(/unit.*not|unknown/i);
    expect((await call(server, 'forecast', { city: 'Rome' }))['isError']).toBe(true);
    const long = await call(server, 'forecast', { place: 'Rome', days: 15 });
    expect(textOf(long)).toContain('days');
    const missing = textOf(await call(server, 'forecast', { days: 1 }));
    expect(missing).toContain('place');
    expect(missing).not.toContain('city');
  });

  it('runs a task with the changed arguments', async () => {
    const changed = { args: { tenant: { value: 'acme' }, note: { name: 'remark' } } };
    await using client = await testClient(build({ tools: { open: changed } }));
    const result = await client.callTool('open', { remark: 'x', tenant: 'evil', note: 'evil' });
    expect(JSON.parse(result.text)).toEqual({ tenant: 'acme', note: 'x' });
  });

  it('does not let callers set a fixed argument of an open schema, whatever they send', async () => {
    const server = serve({ tools: { open: { args: { tenant: { value: 'acme' } } } } });
    const attempts = [
      { tenant: 'evil' },
      { tenant: ['evil'] },
      JSON.parse('{"__proto__":{"tenant":"evil"},"constructor":{"tenant":"evil"}}'),
      { note: 'x', tenant: null },
    ];
    for (const args of attempts) {
      const input = JSON.parse(textOf(await call(server, 'open', args)));
      expect(input.tenant).toBe('acme');
      expect(Object.hasOwn(input, 'tenant')).toBe(true);
    }
  });

  it('does not let the name of a renamed argument reach the handler', async () => {
    const server = serve({
      tools: { open: { args: { tenant: { name: 'customer' }, note: { hidden: true } } } },
    });
    const input = textOf(await call(server, 'open', { customer: 'a', tenant: 'b', note: 'c' }));
    expect(JSON.parse(input)).toEqual({ tenant: 'a' });
  });

  it('exchanges the names of two arguments', async () => {
    const server = serve({
      tools: { open: { args: { tenant: { name: 'note' }, note: { name: 'tenant' } } } },
    });
    const input = textOf(await call(server, 'open', { tenant: 'n', note: 't' }));
    expect(JSON.parse(input)).toEqual({ tenant: 't', note: 'n' });
  });

  it('changes the arguments of a prompt, and its completions', async () => {
    const server = serve({
      prompts: { review: { args: { code: { name: 'source' }, style: { value: 'terse' } } } },
    });
    const [review] = await listed(server, 'prompts');
    expect(review?.['arguments']).toEqual([{ name: 'source', required: true }]);
    const result = await server('prompts/get', {
      name: 'review',
      arguments: { source: 'x', style: 'long', code: 'y' },
    });
    expect(result['messages']).toEqual([{ role: 'user', content: { type: 'text', text: 'x terse' } }]);
    const complete = async (name: string): Promise<unknown> =>
      (
        (await server('completion/complete', {
          ref: { type: 'ref/prompt', name: 'review' },
          argument: { name, value: '' },
          context: { arguments: { style: 'long', source: 's' } },
        })) as { completion?: { values: string[] } }
      ).completion?.values;
    expect(await complete('source')).toEqual(['{"code":"s","style":"terse"}']);
    expect(await complete('code')).toEqual([]);
    expect(await complete('style')).toEqual([]);
  });

  it('wraps handlers and readers', async () => {
    const server = serve({
      tools: {
        forecast: {
          async run(input: { city: string }, _ctx: unknown, next: (input?: object) => Promise<unknown>) {
            if (input.city === 'Nowhere') throw new ToolError('There is no weather there.');
            return input.city === 'Oslo' ? 'Snow' : next({ ...input, city: input.city.toUpperCase() });
          },
        },
      },
      resources: {
        'config://app': {
          async read(_values: unknown, _ctx: unknown, next: () => Promise<unknown>) {
            return `${await next()}!`.replace('[object Object]', 'config');
          },
        },
      },
    });
    const forecast = async (city: string): Promise<string> =>
      textOf(await call(server, 'forecast', { city, days: 1 }));
    expect(await forecast('Rome')).toBe('ROME 1 c');
    expect(await forecast('Oslo')).toBe('Snow');
    expect(await forecast('Nowhere')).toBe('There is no weather there.');
    expect(await server('resources/read', { uri: 'config://app' })).toMatchObject({
      contents: [{ text: 'config!' }],
    });
  });

  it('shows definitions only to callers that a rule allows, and others cannot use them', async () => {
    const server = build({
      tools: { forecast: { allow: (auth?: { claims: { plan?: string } }) => auth?.claims.plan === 'pro' } },
      resources: { 'config://app': { scopes: ['config'] } },
    });
    const [pro, free] = ['pro', 'free'].map((plan) =>
      inProcess(server, { caller: { subject: plan, claims: { plan } } }),
    ) as [Link, Link];
    expect((await listed(pro, 'tools')).map(({ name }) => name)).toContain('forecast');
    expect((await listed(free, 'tools')).map(({ name }) => name)).not.toContain('forecast');
    expect(textOf(await call(pro, 'forecast', { city: 'Rome', days: 1 }))).toBe('Rome 1 c');
    await expect(call(free, 'forecast', { city: 'Rome', days: 1 })).rejects.toThrow('Unknown tool');
    // A list that depends on the caller must not be cached for others.
    expect((await free('tools/list'))['cacheScope']).toBe('private');
    await expect(pro('resources/read', { uri: 'config://app' })).rejects.toThrow(/scope/);
  });

  it.each([
    [{ tools: { forcast: { hidden: true } } }, /forcast.*Did you mean "forecast"/],
    [{ tools: { forecast: { hide: true } } }, /hidden/],
    [{ tools: { forecast: { args: { town: { hidden: true } } } } }, /"town", which is not an argument/],
    [{ tools: { forecast: { args: { city: { hidden: true } } } } }, /required/],
    [{ tools: { forecast: { args: { city: { value: undefined } } } } }, /undefined/],
    [{ tools: { forecast: { args: { days: { value: 15 } } } } }, /does not fit the argument "days"/],
    [{ tools: { forecast: { args: { city: { name: 'days' } } } } }, /two arguments/],
    [{ tools: { forecast: { name: 'open' } } }, /open/],
    [{ tools: { forecast: { name: 'a b' } } }, /tool name/],
    [{ resources: { 'config://{part}': { uri: 'x://{part}' } } }, /template/],
  ])('rejects the mistake in %j', (changes, message) => {
    expect(() => serve(changes)).toThrow(DefinitionError);
    expect(() => serve(changes)).toThrow(message);
  });
});
