import { afterEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { createServer, prompt, resource, type Server, tool } from '../../../../src/index.js';
import { slowUser } from '../../../support/slow-user.js';
import { groupOf, namesOf, serverWith } from './group-servers.js';

afterEach(() => void vi.useRealTimers());

describe('the names of tools and prompts in a group', () => {
  test('begin with the name of their server, in the order of the config', async () => {
    const b = createServer({
      name: 'b',
      version: '1',
      tools: { add: tool({ input: z.object({ a: z.number(), b: z.number() }), run: ({ a, b }) => a + b }) },
      prompts: { hello: prompt({ args: z.object({ to: z.string() }), run: ({ to }) => `Hello ${to}` }) },
    });
    await using set = await groupOf({ z: serverWith('z', 'one', 'two'), b });
    const { group } = set;
    expect(await namesOf(group.tools())).toEqual(['z_one', 'z_two', 'b_add']);
    expect(await namesOf(group.prompts())).toEqual(['b_hello']);
    expect((await group.callTool('z_two')).text).toBe('z.two');
    expect(await group.tool['b_add']?.({ a: 1, b: 2 })).toBe(3);
    const { messages } = await group.getPrompt('b_hello', { to: 'Ada' });
    expect(messages[0]?.content).toMatchObject({ text: 'Hello Ada' });
    expect(set.problems).toEqual([]);
  });

  test('that begin with no server lead to an error that lists the servers, and connect none', async () => {
    await using set = await groupOf({ a: serverWith('a', 'x'), b: serverWith('b', 'y') });
    await expect(set.group.callTool('c_x')).rejects.toMatchObject({
      code: 'invalid_params',
      message: expect.stringContaining('a_, b_'),
    });
    await expect(set.group.callTool('a_')).rejects.toMatchObject({ code: 'invalid_params' });
    expect(set.connected).toEqual([]);
  });

  test("are resolved if the name of one server is a prefix of another's", async () => {
    const [a, ab] = [serverWith('a', 'x', 'b_y'), serverWith('ab', 'x', 'z')];
    await using set = await groupOf({ a, a_b: ab });
    const { group } = set;
    // Nothing was listed yet, so the lists of the two candidates decide.
    expect((await group.callTool('a_b_y')).text).toBe('a.b_y');
    expect((await group.callTool('a_b_z')).text).toBe('ab.z');
    expect((await group.callTool('a_x')).text).toBe('a.x');
    await expect(group.callTool('a_b_none')).rejects.toMatchObject({
      message: expect.stringMatching(/^a_b: /),
    });
    expect(await namesOf(group.tools())).toEqual(['a_x', 'a_b_y', 'a_b_x', 'a_b_z']);
  });

  test('that two servers have belong to the first, which is reported once', async () => {
    await using set = await groupOf({ a_b: serverWith('ab', 'c'), a: serverWith('a', 'b_c') });
    expect(await namesOf(set.group.tools())).toEqual(['a_b_c']);
    expect(await namesOf(set.group.tools())).toEqual(['a_b_c']);
    expect((await set.group.callTool('a_b_c')).text).toBe('ab.c');
    expect(set.problems).toEqual([expect.stringContaining('"a_b_c" is left out: the server a_b')]);
    await using other = await groupOf({ a: serverWith('a', 'b_c'), a_b: serverWith('ab', 'c') });
    expect((await other.group.callTool('a_b_c')).text).toBe('a.b_c');
  });

  test('that become too long are left out and reported', async () => {
    const long = 'x'.repeat(127);
    await using set = await groupOf({ a: serverWith('a', long, 'short') });
    expect(await namesOf(set.group.tools())).toEqual(['a_short']);
    expect(set.problems).toEqual([expect.stringContaining('longer than 128')]);
  });
});

describe('connecting in a group', () => {
  test('happens when a server is first needed, and only to that server', async () => {
    const [a, b] = [serverWith('a', 'x'), serverWith('b', 'y')];
    await using set = await groupOf({ a, b });
    const { group } = set;
    expect(group.status).toBe('ready');
    expect(group.server.info?.name).toBe('a, b');
    await group.ping();
    expect(set.connected).toEqual([]);
    expect([...group.servers].map(([name, { status }]) => [name, status])).toEqual([
      ['a', 'idle'],
      ['b', 'idle'],
    ]);
    await group.callTool('b_y');
    expect(set.connected).toEqual([b]);
    await Promise.all([group.tools().all(), group.prompts().all(), group.callTool('a_x')]);
    expect(set.connected).toEqual([b, a]);
    expect(group.servers.get('a')).toMatchObject({ status: 'ready', server: { info: { name: 'a' } } });
  });

  test('combines the instructions and capabilities of the members', async () => {
    const serverOf = (name: string, instructions: string): Server =>
      createServer({ name, version: '1', instructions, tools: {} }) as unknown as Server;
    await using set = await groupOf({ a: serverOf('a', 'First A.'), b: serverOf('b', 'Then B.') });
    const { group } = set;
    expect(group.server.instructions).toBeUndefined();
    expect(group.server.capabilities.prompts).toEqual({ listChanged: true });
    await group.tools().all();
    expect(group.server.instructions).toBe('## a\n\nFirst A.\n\n## b\n\nThen B.');
    expect(group.server.capabilities.prompts).toBeUndefined();
    expect(group.server.info?.name).toBe('a, b');
  });

  test('gives access to the client of a member', async () => {
    await using set = await groupOf({ a: serverWith('a', 'x') });
    const a = await set.group.member('a');
    expect((await a.callTool('x')).text).toBe('a.x');
    expect(await set.group.member('a')).toBe(a);
    await expect(set.group.member('b')).rejects.toMatchObject({ code: 'invalid_params' });
  });

  test('rejects a token that would go to every server', async () => {
    await expect(groupOf({ a: serverWith('a') }, { auth: 'a-token' })).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.not.stringContaining('a-token'),
    });
  });
});

describe('the resources of a group', () => {
  function library(name: string, ...uris: readonly string[]): Server {
    return createServer({
      name,
      version: '1',
      resources: {
        ...Object.fromEntries(uris.map((uri) => [uri, resource({ read: () => `${name}: ${uri}` })])),
        [`${name}://{id}/page`]: resource({
          complete: { id: (prefix) => [`${prefix}-of-${name}`] },
          read: ({ id }) => (id === 'gone' ? undefined : `${name} page ${id}`),
        }),
      },
    }) as unknown as Server;
  }

  test('keep their URIs and are read from their server', async () => {
    await using set = await groupOf({
      a: library('a', 'x://1', 'x://both'),
      b: library('b', 'x://2', 'x://both'),
      c: serverWith('c', 'tool'),
    });
    const { group } = set;
    // The resource is read before anything is listed.
    expect((await group.readResource('x://2')).text).toBe('b: x://2');
    expect((await group.readResource('x://both')).text).toBe('a: x://both');
    expect((await group.readResource('b://7/page')).text).toBe('b page 7');
    await expect(group.readResource('b://gone/page')).rejects.toMatchObject({ code: 'resource_not_found' });
    await expect(group.readResource('y://nowhere')).rejects.toMatchObject({
      code: 'resource_not_found',
      message: 'No server has the resource y://nowhere.',
    });
    expect((await group.resources().all()).map(({ uri }) => uri)).toEqual(['x://1', 'x://both', 'x://2']);
    expect((await group.templates().all()).map(({ uriTemplate }) => uriTemplate)).toEqual([
      'a://{id}/page',
      'b://{id}/page',
    ]);
    await group.resources().all();
    expect(set.problems).toEqual([expect.stringContaining('x://both')]);
  });

  test('are read from the server that lists them, even if another answers every URI', async () => {
    const greedy = createServer({
      name: 'greedy',
      version: '1',
      resources: { 'g://1': resource({ read: () => 'g' }) },
      use: [
        async (call, next) =>
          call.method === 'resources/read'
            ? { resultType: 'complete', contents: [{ uri: String(call.params['uri']), text: 'mine' }] }
            : next(call),
      ],
    });
    await using set = await groupOf({ greedy, b: library('b', 'x://2') });
    expect((await set.group.readResource('x://2')).text).toBe('b: x://2');
    expect((await set.group.readResource('b://7/page')).text).toBe('b page 7');
    expect((await set.group.readResource('y://other')).text).toBe('mine');
  });

  test('that no server lists are read from the server that has them', async () => {
    const hidden = createServer({
      name: 'hidden',
      version: '1',
      resources: { 'h://listed': resource({ read: () => 'h' }) },
      use: [
        async (call, next) =>
          call.method === 'resources/read' && call.params['uri'] === 'h://secret'
            ? { resultType: 'complete', contents: [{ uri: 'h://secret', text: 'found' }] }
            : next(call),
      ],
    });
    await using set = await groupOf({ a: library('a'), hidden });
    expect((await set.group.readResource('h://secret')).text).toBe('found');
  });

  test('complete the variables of their templates, and prompts complete their arguments', async () => {
    const prompts = createServer({
      name: 'prompts',
      version: '1',
      prompts: {
        greet: prompt({
          args: z.object({ to: z.string() }),
          complete: { to: (prefix) => [`${prefix}da`] },
          run: ({ to }) => to,
        }),
      },
    });
    await using set = await groupOf({ a: library('a'), b: library('b'), p: prompts });
    const { group } = set;
    expect((await group.complete({ template: 'b://{id}/page', argument: 'id', value: '1' })).values).toEqual([
      '1-of-b',
    ]);
    expect((await group.complete({ prompt: 'p_greet', argument: 'to', value: 'A' })).values).toEqual(['Ada']);
    await expect(
      group.complete({ template: 'none://{id}', argument: 'id', value: '1' }),
    ).rejects.toMatchObject({ code: 'invalid_params' });
  });
});

describe('a call through a member', () => {
  const secret = 'a secret that is long enough for a test';
  const worker = createServer({
    name: 'worker',
    version: '1',
    secret,
    tools: {
      count: tool({
        run: (_, ctx) => {
          ctx.progress(1, 2, 'half');
          ctx.log.warning('careful');
          return 'counted';
        },
      }),
      ask: tool({
        run: async (_, ctx) => {
          const answer = await ctx.elicit('who', { message: 'Who?', schema: z.object({ name: z.string() }) });
          const poem = await ctx.sample('poem', { messages: 'A poem', maxTokens: 10 });
          return answer.action === 'accept' ? `${answer.content.name}: ${poem.text}` : answer.action;
        },
      }),
      fail: tool({
        run: () => {
          throw new Error('inside');
        },
      }),
      job: tool({
        task: { support: 'optional', pollIntervalMs: 20 },
        run: async (_, ctx) => {
          const answer = await ctx.elicit('name', {
            message: 'Name?',
            schema: z.object({ name: z.string() }),
          });
          return answer.action === 'accept' ? answer.content.name : answer.action;
        },
      }),
    },
  });

  test('delivers progress and log messages to the caller, once', async () => {
    const [ofCall, logs, ofGroup]: [unknown[], unknown[], unknown[]] = [[], [], []];
    await using set = await groupOf(
      { w: worker },
      {
        onLog: ({ data }) => logs.push(data),
        progress: ({ progress }, { name }) => ofGroup.push([progress, name]),
      },
    );
    await set.group.callTool('w_count', {}, { onProgress: (progress) => ofCall.push(progress) });
    expect(ofCall).toEqual([{ progress: 1, total: 2, message: 'half' }]);
    expect(ofGroup).toEqual([[1, 'w_count']]);
    expect(logs).toHaveLength(1);
    set.group.setLogLevel(undefined);
    await set.group.callTool('w_count');
    expect(logs).toHaveLength(1);
  });

  test('asks the handlers of the program, and does not time out while the user answers', async () => {
    const keys: unknown[] = [];
    const userTakes = slowUser();
    await using set = await groupOf(
      { w: worker, other: serverWith('other', 'x') },
      {
        timeoutMs: 10_000,
        elicit: async (_, { key }) => {
          keys.push(key);
          await userTakes(30_000);
          return { action: 'accept', content: { name: 'Ada' } };
        },
        sample: () => ({ role: 'assistant', content: { type: 'text', text: 'roses' }, model: 'm' }),
      },
    );
    expect((await set.group.callTool('w_ask')).text).toBe('Ada: roses');
    expect(keys).toEqual(['who']);
  });

  test('goes through the middleware once, under the name of the group', async () => {
    const calls: unknown[] = [];
    await using set = await groupOf(
      { w: worker },
      {
        use: [
          (call, next) => {
            calls.push([call.method, call.params['name']]);
            return next(call);
          },
        ],
      },
    );
    await set.group.callTool('w_count');
    expect(calls).toEqual([['tools/call', 'w_count']]);
  });

  test('may become a task, whose id names the server', async () => {
    await using set = await groupOf(
      { a: serverWith('a'), w: worker },
      { elicit: () => ({ action: 'accept', content: { name: 'Ada' } }) },
    );
    const { group } = set;
    expect((await group.callTool('w_job')).text).toBe('Ada');
    const task = await group.startTool('w_job');
    expect(task.id).toMatch(/^w:/);
    expect((await task.status()).id).toBe(task.id);
    expect((await group.task(task.id as string).result()).text).toBe('Ada');
    const cancelled = await group.startTool('w_job');
    await cancelled.cancel();
    expect((await cancelled.status()).status).toBe('cancelled');
    await expect(group.task('nobody:1').status()).rejects.toMatchObject({ code: 'invalid_params' });
  });

  test('ends when its caller aborts it, and the handler is aborted', async () => {
    const aborts: unknown[] = [];
    const slow = createServer({
      name: 'slow',
      version: '1',
      tools: {
        wait: tool({
          run: (_, ctx) =>
            new Promise((resolve) => {
              ctx.signal.addEventListener('abort', () => {
                aborts.push('wait');
                resolve('late');
              });
            }),
        }),
      },
    });
    await using set = await groupOf({ slow });
    const stop = new AbortController();
    const call = set.group.callTool('slow_wait', {}, { signal: stop.signal, onProgress: () => {} });
    setTimeout(() => stop.abort(), 20);
    await expect(call).rejects.toMatchObject({ code: 'cancelled' });
    expect(aborts).toEqual(['wait']);
  });

  test('of a custom method is an error that says how to call it', async () => {
    await using set = await groupOf({ w: worker });
    await expect(set.group.request('own/method')).rejects.toMatchObject({
      code: 'method_not_found',
      message: expect.stringContaining('client.member(name)'),
    });
  });
});
