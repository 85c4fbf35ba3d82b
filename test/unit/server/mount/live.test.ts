import { createServer, inProcess, prompt, resource, tool } from 'fullmcp';
import { testClient } from 'fullmcp/testing';
import { describe, expect, it } from 'vitest';
import { until } from '../../../support/until.js';

const quiet = { version: '1.0.0', secret: 'x'.repeat(32), logger: () => undefined };

async function toolNames(server: object): Promise<unknown[]> {
  const { tools } = await inProcess(server as never)('tools/list');
  return (tools as { name: string }[]).map(({ name }) => name);
}

describe('a mount is live', () => {
  it('shows definitions that the mounted server adds and removes later', async () => {
    const inner = createServer({ ...quiet, name: 'inner', tools: { a: tool({ run: () => 'a' }) } });
    const middle = createServer({ ...quiet, name: 'middle', mount: { inner } });
    const main = createServer({ ...quiet, name: 'main', mount: { middle } });
    const added = inner.tool('b', {}, () => 'b');
    expect(await toolNames(main)).toEqual(['middle_inner_a', 'middle_inner_b']);
    added.remove();
    expect(await toolNames(main)).toEqual(['middle_inner_a']);
    inner.prompt('p', {}, () => 'p');
    inner.resource('x://{y}', {}, ({ y }) => y);
    expect(await inProcess(main)('resources/read', { uri: 'middle+inner+x://z' })).toMatchObject({
      contents: [{ text: 'z' }],
    });
  });

  it('refuses a definition whose name is taken in the outer server, and leaves both as they were', async () => {
    const inner = createServer({ ...quiet, name: 'inner', tools: { a: tool({ run: () => 'a' }) } });
    const main = createServer({
      ...quiet,
      name: 'main',
      tools: { inner_b: tool({ run: () => 'mine' }) },
      mount: { inner },
    });
    expect(() => inner.tool('b', {}, () => 'b')).toThrow(/inner_b/);
    expect(await toolNames(inner)).toEqual(['a']);
    expect(await toolNames(main)).toEqual(['inner_b', 'inner_a']);
  });

  it('can be mounted and removed while clients are connected, which are told', async () => {
    const inner = createServer({
      ...quiet,
      name: 'inner',
      tools: { a: tool({ run: () => 'a' }) },
      prompts: { p: prompt({ run: () => 'p' }) },
    });
    const main = createServer({
      ...quiet,
      name: 'main',
      changes: true,
      tools: { m: tool({ run: () => 'm' }) },
    });
    await using client = await testClient(main);
    const seen: string[] = [];
    await using _ = await client.subscribe({ tools: true }, { onChange: () => void seen.push('tools') });
    const registration = main.mount('inner', inner);
    await until('seen has 1', () => seen.length === 1);
    expect(await client.tools().all()).toHaveLength(2);
    registration.remove();
    await until('seen has 2', () => seen.length === 2);
    expect(await client.tools().all()).toHaveLength(1);
    registration.remove();
    main.mount('inner', inner);
    await until('seen has 3', () => seen.length === 3);
  });

  it('announces the changes of its resources under the names that clients use', async () => {
    let text = 'old';
    const watched: string[] = [];
    const inner = createServer({
      ...quiet,
      name: 'inner',
      lifespan: async function* () {
        yield { db: 'own' };
      },
      tools: {
        write: tool({
          run: (_input, ctx) => {
            text = 'new';
            ctx.changed.resource('note://one');
          },
        }),
      },
      resources: {
        'note://one': resource({
          onSubscribe: (_values, { uri, state }) =>
            void watched.push(`${uri} ${(state as { db: string }).db}`),
          read: () => text,
        }),
      },
    });
    const main = createServer({ ...quiet, name: 'main', mount: { inner } });
    await using client = await testClient(main);
    const updated: string[] = [];
    await using _ = await client.subscribe('inner+note://one', {
      onChange: () => void updated.push('updated'),
    });
    await until('watched has 1', () => watched.length === 1);
    expect(watched).toEqual(['note://one own']);
    await client.callTool('inner_write');
    await until('updated has 1', () => updated.length === 1);
    expect((await client.readResource('inner+note://one')).text).toBe('new');
  });

  it('closes a mounted server with the last server that it is mounted in, started or not', async () => {
    const events: string[] = [];
    const inner = createServer({
      ...quiet,
      name: 'inner',
      lifespan: async function* () {
        events.push('open');
        yield {};
        events.push('close');
      },
      tools: { a: tool({ run: () => 'a' }) },
    });
    const one = createServer({ ...quiet, name: 'one', mount: { inner } });
    const two = createServer({ ...quiet, name: 'two', mount: { inner } });
    await inProcess(one)('tools/call', { name: 'inner_a' });
    await one.close();
    expect(events).toEqual(['open']);
    await inProcess(two)('tools/call', { name: 'inner_a' });
    await two.close();
    expect(events).toEqual(['open', 'close']);
  });

  it('closes everything, and then says that the lifespan of a mounted server could not end', async () => {
    const events: string[] = [];
    const lifespan = (name: string) =>
      async function* () {
        yield {};
        events.push(name);
        if (name === 'first') throw new Error('The database is away.');
      };
    const mounted = (name: string) =>
      createServer({ ...quiet, name, lifespan: lifespan(name), tools: { a: tool({ run: () => 'a' }) } });
    const middle = createServer({ ...quiet, name: 'middle', mount: { first: mounted('first') } });
    const outer = createServer({
      ...quiet,
      name: 'outer',
      lifespan: lifespan('outer'),
      mount: { middle, second: mounted('second') },
    });
    await outer.start();
    await expect(outer.close()).rejects.toThrow('The database is away.');
    expect(events).toEqual(['first', 'second', 'outer']);
  });

  it('leaves a server open that was removed, or is served itself', async () => {
    const inner = createServer({
      ...quiet,
      name: 'inner',
      lifespan: async function* () {
        yield {};
      },
      tools: { a: tool({ run: () => 'a' }) },
    });
    const main = createServer({ ...quiet, name: 'main' });
    main.mount('inner', inner).remove();
    main.mount('again', inner);
    expect(await inProcess(main)('tools/call', { name: 'again_a' })).toMatchObject({
      content: [{ text: 'a' }],
    });
    await inner.start();
    await main.close();
    expect(await inProcess(inner)('tools/call', { name: 'a' })).toMatchObject({ content: [{ text: 'a' }] });
    await inner.close();
  });
});
