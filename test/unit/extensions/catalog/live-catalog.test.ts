import { createServer, DefinitionError, inProcess, type Outcome, prompt, resource, tool } from 'fullmcp';
import { addCatalog, type CatalogDefinitions } from 'fullmcp/catalog';
import { testClient } from 'fullmcp/testing';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { until } from '../../../support/until.js';

type Log = [level: string, message: string, detail?: unknown];
function makeServer() {
  const logs: Log[] = [];
  const server = createServer({
    name: 'live',
    version: '1.0.0',
    secret: 'x'.repeat(32),
    changes: true,
    logger: (...entry) => void logs.push(entry as Log),
    tools: { own: tool({ run: () => 'own' }) },
  });
  return { server, logs };
}

function gateOf<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

const textOf = (outcome: Outcome): string => (outcome['content'] as { text: string }[])[0]?.text ?? '';
const namesOf = async (server: object): Promise<string[]> =>
  ((await inProcess(server as never)('tools/list'))['tools'] as { name: string }[]).map(({ name }) => name);

describe('a catalog', () => {
  it('serves tools, resources and prompts of a source, and what changes', async () => {
    const { server } = makeServer();
    const keep = tool({ run: () => 'kept' });
    let definitions: CatalogDefinitions = {
      tools: { keep, gone: tool({ run: () => 'gone' }), swap: tool({ run: () => 'one' }) },
      resources: { 'a://{id}': resource({ read: ({ id }) => id as string }) },
      prompts: { p: prompt({ args: z.object({ a: z.string() }), run: ({ a }) => a }) },
    };
    const catalog = await addCatalog(server, { load: async () => definitions });
    const call = inProcess(server);
    expect(await namesOf(server)).toEqual(['own', 'keep', 'gone', 'swap']);
    expect(await call('resources/read', { uri: 'a://7' })).toMatchObject({ contents: [{ text: '7' }] });
    definitions = { tools: { keep, swap: tool({ run: () => 'two' }) } };
    await catalog.reload();
    expect(await namesOf(server)).toEqual(['own', 'keep', 'swap']);
    expect(textOf(await call('tools/call', { name: 'swap' }))).toBe('two');
    await expect(call('tools/call', { name: 'gone' })).rejects.toThrow('Unknown tool');
    await expect(call('resources/read', { uri: 'a://7' })).rejects.toThrow();
    catalog.remove();
    expect(await namesOf(server)).toEqual(['own']);
    await catalog.reload();
    expect(await namesOf(server)).toEqual(['own']);
  });

  it('tells clients of changes, and nothing if nothing has changed', async () => {
    const { server } = makeServer();
    let definitions: CatalogDefinitions = { tools: { a: tool({ run: () => 'a' }) } };
    let onChange = (): void => undefined;
    const catalog = await addCatalog(server, {
      load: () => definitions,
      watch(listener) {
        onChange = listener;
        return () => undefined;
      },
    });
    await using client = await testClient(server);
    let changes = 0;
    await using _ = await client.subscribe({ tools: true }, { onChange: () => void changes++ });
    await catalog.reload();
    definitions = { tools: { b: tool({ run: () => 'b' }) } };
    onChange();
    await until('the change is announced', () => changes > 0);
    await until(
      'the new tool is there',
      async () => (await client.callTool('b').catch(() => ({ text: '' }))).text === 'b',
    );
  });

  it('keeps the last good version of a definition with a mistake, and updates the others', async () => {
    const { server, logs } = makeServer();
    let definitions: CatalogDefinitions = {
      tools: { a: tool({ run: () => 'a1' }), b: tool({ run: () => 'b1' }) },
    };
    let onChange = (): void => undefined;
    const catalog = await addCatalog(server, {
      load: () => definitions,
      watch(listener) {
        onChange = listener;
        return () => undefined;
      },
    });
    definitions = {
      tools: {
        a: tool({ input: { type: 'nonsense' }, run: () => 'a2' }),
        own: tool({ run: () => 'stolen' }),
        b: tool({ run: () => 'b2' }),
      },
    };
    await expect(catalog.reload()).rejects.toThrow(DefinitionError);
    const call = inProcess(server);
    expect(textOf(await call('tools/call', { name: 'a' }))).toBe('a1');
    expect(textOf(await call('tools/call', { name: 'b' }))).toBe('b2');
    expect(textOf(await call('tools/call', { name: 'own' }))).toBe('own');
    onChange();
    await until('it is logged', () => logs.some(([, message]) => message.includes('catalog')));
    definitions = { tools: { a: tool({ run: () => 'a3' }) } };
    await catalog.reload();
    expect(textOf(await call('tools/call', { name: 'a' }))).toBe('a3');
  });

  it('stays as it is if the source fails, or returns something else', async () => {
    const { server } = makeServer();
    let answer: () => unknown = () => ({ tools: { a: tool({ run: () => 'a' }) } });
    const catalog = await addCatalog(server, { load: async () => answer() as never });
    const answers = [
      () => Promise.reject(new Error('The database is gone')),
      () => undefined,
      () => ({ tool: {} }),
      () => ({ tools: Object.fromEntries(Array.from({ length: 10_001 }, (_, at) => [`t${at}`, {}])) }),
    ];
    for (const next of answers) {
      answer = next;
      await expect(catalog.reload()).rejects.toThrow();
      expect(await namesOf(server)).toEqual(['own', 'a']);
    }
  });

  it('lets a running call finish with the definition that it began with', async () => {
    const { server } = makeServer();
    const gate = gateOf<void>();
    let begun = false;
    let definitions: CatalogDefinitions = {
      tools: {
        slow: tool({
          async run() {
            begun = true;
            await gate.promise;
            return 'old';
          },
        }),
      },
    };
    const catalog = await addCatalog(server, { load: () => definitions });
    const call = inProcess(server);
    const running = call('tools/call', { name: 'slow' });
    await until('it has begun', () => begun);
    definitions = { tools: { slow: tool({ run: () => 'new' }) } };
    await catalog.reload();
    expect(textOf(await call('tools/call', { name: 'slow' }))).toBe('new');
    definitions = {};
    await catalog.reload();
    gate.resolve();
    expect(textOf(await running)).toBe('old');
  });

  it('does not let a slow load overwrite a later one', async () => {
    const { server } = makeServer();
    const first = gateOf<CatalogDefinitions>();
    let loads = 0;
    const catalog = await addCatalog(server, {
      load: () => {
        loads++;
        return loads === 2 ? first.promise : { tools: { [`load${loads}`]: tool({ run: () => '' }) } };
      },
    });
    const slow = catalog.reload();
    await until('the slow load runs', () => loads === 2);
    const later = [catalog.reload(), catalog.reload()];
    first.resolve({ tools: { load2: tool({ run: () => '' }) } });
    await Promise.all([slow, ...later]);
    expect(loads).toBe(3);
    expect(await namesOf(server)).toEqual(['own', 'load3']);
  });

  it('ends its watch with the server, and does nothing after that', async () => {
    const { server } = makeServer();
    const gate = gateOf<CatalogDefinitions>();
    let isWatching = false;
    let isSlow = false;
    const catalog = await addCatalog(server, {
      load: () => (isSlow ? gate.promise : {}),
      watch() {
        isWatching = true;
        return () => {
          isWatching = false;
        };
      },
    });
    expect(isWatching).toBe(true);
    isSlow = true;
    const reloading = catalog.reload();
    await server.close();
    expect(isWatching).toBe(false);
    gate.resolve({ tools: { late: tool({ run: () => '' }) } });
    await reloading;
    expect(await namesOf(server)).toEqual(['own']);
  });

  it('fails at the start, and leaves nothing behind, if a definition has a mistake', async () => {
    const { server } = makeServer();
    const source = {
      load: () => ({ tools: { a: tool({ run: () => '' }), 'b b': tool({ run: () => '' }) } }),
    };
    await expect(addCatalog(server, source)).rejects.toThrow(/b b/);
    expect(await namesOf(server)).toEqual(['own']);
    await expect(addCatalog({} as never, source)).rejects.toThrow(/must be a server/);
  });

  it('follows a mounted server, whose outer server may refuse a name', async () => {
    const { server: inner } = makeServer();
    let definitions: CatalogDefinitions = { tools: { a: tool({ run: () => 'a' }) } };
    const catalog = await addCatalog(inner, { load: () => definitions });
    const outer = createServer({
      name: 'outer',
      version: '1.0.0',
      mount: { in: inner },
      tools: { in_b: tool({ run: () => 'mine' }) },
    });
    expect(await namesOf(outer)).toEqual(['in_b', 'in_own', 'in_a']);
    definitions = { tools: { a: tool({ run: () => 'a2' }), b: tool({ run: () => 'b' }) } };
    await expect(catalog.reload()).rejects.toThrow(/in_b/);
    expect(textOf(await inProcess(outer)('tools/call', { name: 'in_a' }))).toBe('a2');
    expect(textOf(await inProcess(outer)('tools/call', { name: 'in_b' }))).toBe('mine');
  });
});
