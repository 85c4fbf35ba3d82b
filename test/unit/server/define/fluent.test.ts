import {
  createServer,
  DefinitionError,
  defineWith,
  inProcess,
  type Outcome,
  type Registration,
} from 'fullmcp';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';

const quiet = { version: '1.0.0', secret: 'x'.repeat(32), logger: () => undefined };
const textOf = (outcome: Outcome): string => (outcome['content'] as { text: string }[])[0]?.text ?? '';

describe('the fluent form', () => {
  it('defines a tool whose handler is typed by the schemas before it', async () => {
    const server = createServer({ ...quiet, name: 'math' });
    const added = server
      .tool('add')
      .description('Adds two numbers')
      .tags(['math'])
      .annotations({ readOnly: true })
      .input(z.object({ a: z.number(), b: z.number() }))
      .output(z.object({ sum: z.number() }))
      .run(({ a, b }) => {
        expectTypeOf(a).toEqualTypeOf<number>();
        return { sum: a + b };
      });
    expectTypeOf(added).toEqualTypeOf<Registration>();
    const call = inProcess(server);
    expect(((await call('tools/list'))['tools'] as object[])[0]).toMatchObject({
      name: 'add',
      description: 'Adds two numbers',
      annotations: { readOnlyHint: true },
      _meta: { 'fullmcp/tags': ['math'] },
    });
    expect(
      (await call('tools/call', { name: 'add', arguments: { a: 1, b: 2 } }))['structuredContent'],
    ).toEqual({ sum: 3 });
    added.remove();
    expect((await call('tools/list'))['tools']).toEqual([]);
  });

  it('defines resources, templates and prompts', async () => {
    const server = createServer({ ...quiet, name: 'docs' });
    server
      .resource('config://app')
      .mimeType('text/plain')
      .read(() => 'config');
    server
      .resource('users://{id}')
      .complete({ id: () => ['1'] })
      .read(({ id }) => {
        expectTypeOf(id).toEqualTypeOf<string>();
        return `user ${id}`;
      });
    server
      .prompt('review')
      .title('Review')
      .args(z.object({ code: z.string() }))
      .run(({ code }) => `Review ${code}`);
    const call = inProcess(server);
    expect(await call('resources/read', { uri: 'config://app' })).toMatchObject({
      contents: [{ text: 'config', mimeType: 'text/plain' }],
    });
    expect(await call('resources/read', { uri: 'users://7' })).toMatchObject({
      contents: [{ text: 'user 7' }],
    });
    expect(await call('prompts/get', { name: 'review', arguments: { code: 'x' } })).toMatchObject({
      messages: [{ content: { text: 'Review x' } }],
    });
  });

  it('knows the state and the user of the server', async () => {
    const { createServer: create } = defineWith({
      lifespan: async function* () {
        yield { count: 3 };
      },
    });
    const server = create({ ...quiet, name: 'state' });
    server.tool('count').run((_input, { state }) => {
      expectTypeOf(state).toEqualTypeOf<{ count: number }>();
      return `${state.count}`;
    });
    server.tool('loaded').load(async () => ({ run: (_input, { state }) => `${state.count}` }));
    const call = inProcess(server);
    for (const name of ['count', 'loaded']) expect(textOf(await call('tools/call', { name }))).toBe('3');
  });

  it('can begin several tools with the same options: no step changes an earlier one', async () => {
    const server = createServer({ ...quiet, name: 'two' });
    const base = server.tool('one').description('One');
    base.title('Changed');
    base.run(() => 'one');
    const { tools } = await inProcess(server)('tools/list');
    expect(tools).toMatchObject([{ description: 'One' }]);
    expect((tools as object[])[0]).not.toHaveProperty('title');
    expect(() => base.run(() => 'again')).toThrow(DefinitionError);
  });

  it('reports mistakes as createServer does', () => {
    const server = createServer({ ...quiet, name: 'wrong' });
    expect(() => server.tool('a b').run(() => 1)).toThrow(/tool name/);
    const typed = server.tool('typed').input(z.object({ a: z.string() }));
    // @ts-expect-error A handler must not read arguments that the schema does not have.
    typed.run(({ b }) => b);
  });
});
