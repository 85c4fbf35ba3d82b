import { describe, expect, test } from 'vitest';
import { createServer, tool } from '../../../../src/index.js';
import type { Dispatch } from '../../../../src/protocol/call.js';
import { inProcessClient } from '../../../support/in-process-client.js';

const many = createServer({
  name: 'many',
  version: '1',
  pageSize: 3,
  tools: Object.fromEntries(Array.from({ length: 8 }, (_, at) => [`t${at}`, tool({ run: () => at })])),
});

describe('lists', () => {
  test('are fetched page by page, only as far as they are read', async () => {
    let pages = 0;
    const counting: Dispatch = (call) => {
      if (call.method === 'tools/list') pages++;
      return many.dispatch(call);
    };
    await using client = await inProcessClient({ dispatch: counting }, { cache: false });
    const names: string[] = [];
    for await (const { name } of client.tools()) {
      names.push(name);
      if (names.length === 4) break;
    }
    expect(names).toEqual(['t0', 't1', 't2', 't3']);
    expect(pages).toBe(2);
    expect(await client.tools().all()).toHaveLength(8);
    expect(pages).toBe(5);
  });

  test('end with an error if the server repeats a cursor', async () => {
    const circle: Dispatch = async (call) =>
      call.method === 'tools/list'
        ? { resultType: 'complete', tools: [], nextCursor: 'again' }
        : many.dispatch(call);
    await using client = await inProcessClient({ dispatch: circle });
    await expect(client.tools().all()).rejects.toMatchObject({ code: 'bad_response' });
  });

  test('end with an error at the maximum size if the pages of the server never end', async () => {
    const description = 'x'.repeat(16 * 1024 * 1024);
    let pages = 0;
    const endless: Dispatch = async (call) =>
      call.method === 'tools/list'
        ? { resultType: 'complete', tools: [{ name: `t${pages}`, description }], nextCursor: `${pages++}` }
        : many.dispatch(call);
    await using client = await inProcessClient({ dispatch: endless });
    await expect(client.tools().all()).rejects.toMatchObject({
      code: 'bad_response',
      message: expect.stringContaining('list of tools is larger than'),
    });
    expect(pages).toBeLessThan(12);
  });

  test('skip and report an invalid entry, and keep the others', async () => {
    const odd: Dispatch = async (call) => {
      const outcome = await many.dispatch(call);
      return call.method === 'tools/list'
        ? { ...outcome, tools: [null, ...(outcome['tools'] as object[]), 3] }
        : outcome;
    };
    await using client = await inProcessClient({ dispatch: odd });
    expect((await client.tools().all()).map(({ name }) => name)).toHaveLength(8);
    expect(client.info().problems[0]).toContain('Skipped 2 entries');
  });

  test('end with an error if the response has no list', async () => {
    const odd: Dispatch = async (call) =>
      call.method === 'tools/list' ? { resultType: 'complete' } : many.dispatch(call);
    await using client = await inProcessClient({ dispatch: odd });
    await expect(client.tools().all()).rejects.toMatchObject({
      message: 'The server\'s result needs "tools", an array',
    });
  });
});

describe('resources, prompts and completions', () => {
  const server = createServer({ name: 'things', version: '1' });
  server.resource('config://app', { mimeType: 'application/json' }, () => ({ debug: true }));
  server.resource(
    'users://{id}',
    { complete: { id: (prefix) => [`${prefix}1`, `${prefix}2`] } },
    ({ id }) => `user ${id}`,
  );
  server.prompt('review', { description: 'Reviews' }, () => 'Review this');

  test('are listed, read, rendered and completed', async () => {
    await using client = await inProcessClient(server);
    expect((await client.resources().all()).map(({ uri }) => uri)).toEqual(['config://app']);
    expect((await client.templates().all()).map(({ uriTemplate }) => uriTemplate)).toEqual(['users://{id}']);
    expect((await client.readResource('config://app')).text).toBe('{"debug":true}');
    expect((await client.readResource('users://7')).contents).toMatchObject([
      { uri: 'users://7', text: 'user 7' },
    ]);
    expect((await client.getPrompt('review')).messages).toMatchObject([
      { role: 'user', content: { text: 'Review this' } },
    ]);
    expect(await client.complete({ template: 'users://{id}', argument: 'id', value: 'a' })).toEqual({
      values: ['a1', 'a2'],
      total: 2,
      hasMore: false,
    });
    await expect(client.readResource('config://other')).rejects.toMatchObject({ code: 'resource_not_found' });
  });
});
