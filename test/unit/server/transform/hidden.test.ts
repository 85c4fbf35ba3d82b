import { createServer, inProcess, prompt, resource, tool } from 'fullmcp';
import { testClient, wires } from 'fullmcp/testing';
import { resourcesAsTools, transform } from 'fullmcp/transform';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { until } from '../../../support/until.js';

const quiet = { version: '1.0.0', secret: 'x'.repeat(32), logger: () => undefined };

function makeInner() {
  return createServer({
    ...quiet,
    name: 'inner',
    changes: true,
    tools: {
      shown: tool({ run: async (_input, ctx) => (await ctx.call('hidden')).content }),
      hidden: tool({ task: 'optional', run: () => 'the secret' }),
      ...resourcesAsTools(),
    },
    resources: {
      'note://hidden': resource({ read: () => 'the secret' }),
      'note://shown': resource({ read: () => 'shown' }),
      'note://{id}': resource({ read: ({ id }) => `note ${id}` }),
      'vault://{id}': resource({
        list: () => ['vault://1'],
        complete: { id: () => ['1'] },
        read: () => 'the secret',
      }),
    },
    prompts: {
      hidden: prompt({
        args: z.object({ a: z.string() }),
        complete: { a: () => ['x'] },
        run: () => 'the secret',
      }),
    },
  });
}

function makeOuter(inner = makeInner()) {
  return createServer({
    ...quiet,
    name: 'outer',
    mount: {
      in: transform(inner, {
        tools: { hidden: { hidden: true } },
        prompts: { hidden: { hidden: true } },
        resources: { 'note://hidden': { hidden: true }, 'vault://{id}': { hidden: true } },
      }),
    },
    tools: {
      calls: tool({
        input: z.object({ name: z.string() }),
        run: async ({ name }, ctx) => (await ctx.call(name)).content,
      }),
      reads: tool({
        input: z.object({ uri: z.string() }),
        run: async ({ uri }, ctx) => JSON.stringify(await ctx.read(uri)),
      }),
    },
  });
}

const attempts: readonly (readonly [method: string, params: Record<string, unknown>])[] = [
  ['tools/call', { name: 'in_hidden' }],
  ['tools/call', { name: 'hidden' }],
  ['tools/call', { name: 'in_hidden', task: { ttl: 1000 } }],
  ['tools/call', { name: 'calls', arguments: { name: 'in_hidden' } }],
  ['tools/call', { name: 'calls', arguments: { name: 'hidden' } }],
  ['tools/call', { name: 'reads', arguments: { uri: 'in+note://hidden' } }],
  ['tools/call', { name: 'reads', arguments: { uri: 'in+vault://1' } }],
  ['tools/call', { name: 'in_read_resource', arguments: { uri: 'in+note://hidden' } }],
  ['tools/call', { name: 'in_read_resource', arguments: { uri: 'note://hidden' } }],
  ['tools/call', { name: 'in_read_resource', arguments: { uri: 'vault://1' } }],
  ['tools/call', { name: 'in_list_resources' }],
  ['prompts/get', { name: 'in_hidden', arguments: { a: 'x' } }],
  ['prompts/get', { name: 'hidden', arguments: { a: 'x' } }],
  ['resources/read', { uri: 'in+note://hidden' }],
  ['resources/read', { uri: 'note://hidden' }],
  ['resources/read', { uri: 'in+vault://1' }],
  [
    'completion/complete',
    { ref: { type: 'ref/prompt', name: 'in_hidden' }, argument: { name: 'a', value: '' } },
  ],
  [
    'completion/complete',
    { ref: { type: 'ref/resource', uri: 'in+vault://{id}' }, argument: { name: 'id', value: '' } },
  ],
  ['tools/list', {}],
  ['prompts/list', {}],
  ['resources/list', {}],
  ['resources/templates/list', {}],
];

describe.each(wires)('over $name', ({ over, revision }) => {
  it('a hidden definition cannot be seen or used, whatever the request', async () => {
    await using client = await testClient(makeOuter(), { over, revision } as object);
    for (const [method, params] of attempts) {
      const reaction = await client.request(method, params).then(
        (result) => JSON.stringify(result),
        (error: Error) => error.message,
      );
      expect(reaction, `${method} ${JSON.stringify(params)}`).not.toContain('the secret');
      if (JSON.stringify([method, params]).includes('list')) expect(reaction).not.toMatch(/hidden|vault/);
    }
    // A handler of the mounted server uses its own names, and may do what it always did.
    expect((await client.callTool('in_shown')).text).toBe('the secret');
    expect((await client.readResource('in+note://shown')).text).toBe('shown');
    expect((await client.readResource('in+note://7')).text).toBe('note 7');
  });
});

it('changes of a hidden resource are not reported', async () => {
  const inner = makeInner();
  await using client = await testClient(makeOuter(inner));
  const updated: string[] = [];
  const uris = ['in+note://hidden', 'in+vault://1', 'in+note://shown'];
  const subscriptions = await Promise.all(
    uris.map((uri) => client.subscribe(uri, { onChange: () => void updated.push(uri) })),
  );
  inner.changed.resource('note://hidden');
  inner.changed.resource('vault://1');
  inner.changed.resource('note://shown');
  await until('the shown one is reported', () => updated.length > 0);
  expect(updated).toEqual(['in+note://shown']);
  for (const subscription of subscriptions) await subscription.close();
});

it('a definition that is added later is hidden, renamed and changed as well', async () => {
  const inner = makeInner();
  const outer = createServer({
    ...quiet,
    name: 'outer',
    mount: {
      in: transform(inner, {
        every: ({ name, tags }) => (tags.includes('internal') ? { hidden: true } : { name: `x_${name}` }),
      }),
    },
  });
  inner.tool('later', { tags: ['internal'] }, () => 'later');
  const registration = inner.tool('soon', { input: z.object({ a: z.string() }) }, ({ a }) => a);
  const call = inProcess(outer);
  await expect(call('tools/call', { name: 'in_x_later' })).rejects.toThrow('Unknown tool');
  await expect(call('tools/call', { name: 'in_later' })).rejects.toThrow('Unknown tool');
  expect(await call('tools/call', { name: 'in_x_soon', arguments: { a: 'now' } })).toMatchObject({
    content: [{ text: 'now' }],
  });
  registration.remove();
  await expect(call('tools/call', { name: 'in_x_soon' })).rejects.toThrow('Unknown tool');
});

it('a transformed server is not served itself, because its dispatch would have to hide the definitions', async () => {
  const view = transform(makeInner(), { tools: { hidden: { hidden: true } } });
  await expect(inProcess(view)('tools/call', { name: 'hidden' })).rejects.toThrow(/mounted/);
});

it('a transform of a transform adds to it', async () => {
  const once = transform(makeInner(), { tools: { hidden: { hidden: true }, shown: { name: 'first' } } });
  const twice = transform(once, { tools: { first: { name: 'second', description: 'Twice' } } });
  const call = inProcess(createServer({ ...quiet, name: 'outer', mount: { '': twice } }));
  const { tools } = await call('tools/list');
  expect((tools as object[])[0]).toMatchObject({ name: 'second', description: 'Twice' });
  await expect(call('tools/call', { name: 'hidden' })).rejects.toThrow('Unknown tool');
  expect(await call('tools/call', { name: 'second' })).toMatchObject({ content: [{ text: 'the secret' }] });
});

it('definitions that are changed twice hide what each change hides', async () => {
  const read = (_values: object, { uri }: { readonly uri: string }): string => uri;
  const definitions = {
    resources: {
      'a://1': resource({ read }),
      'a://2': resource({ read }),
      'a://{id}': resource({ list: () => ['a://1', 'a://2', 'a://3'], read }),
    },
  };
  const once = transform(definitions, { resources: { 'a://1': { hidden: true } } });
  const twice = transform(once, { resources: { 'a://2': { hidden: true } } });
  const inner = createServer({ ...quiet, name: 'inner', ...twice });
  const outer = createServer({ ...quiet, name: 'outer', mount: { '': transform(inner, {}) } });
  for (const call of [inProcess(inner), inProcess(outer)]) {
    for (const uri of ['a://1', 'a://2'])
      await expect(call('resources/read', { uri })).rejects.toThrow('Resource not found');
    expect(await call('resources/read', { uri: 'a://3' })).toMatchObject({ contents: [{ text: 'a://3' }] });
    expect((await call('resources/list'))['resources']).toMatchObject([{ uri: 'a://3' }]);
  }
});
