import { createServer, inProcess, prompt, resource, tool } from 'fullmcp';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

const quiet = { name: 'test', version: '1.0.0', secret: 'x'.repeat(32), logger: () => undefined };
const run = (): string => 'done';
const ann = { subject: 'ann', scopes: ['read'] };
const bob = { subject: 'bob', scopes: ['read', 'write'] };

type Named = { readonly name: string }[];

async function failureOf(work: Promise<unknown>): Promise<{ code: string; message: string; data: unknown }> {
  const error = await work.then(
    () => undefined,
    (reason) => reason,
  );
  expect(error).toBeDefined();
  const { code, message, data } = error;
  return { code, message, data };
}

describe('names that every object has', () => {
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];
  const server = createServer({
    ...quiet,
    access: { tags: Object.fromEntries(names.map((name) => [name, { scopes: [`${name}:tag`] }])) },
    tools: Object.fromEntries([
      ...names.map((name) => [`scope_${name}`, tool({ scopes: [name], run })] as const),
      ...names.map((name) => [`tag_${name}`, tool({ tags: [name], run })] as const),
    ]),
  });
  const listed = async (scopes: readonly string[]) => {
    const claims = JSON.parse('{"__proto__":{"scopes":["constructor"]}}');
    const { tools } = await inProcess(server, { caller: { subject: '__proto__', scopes, claims } })(
      'tools/list',
    );
    return (tools as Named).map(({ name }) => name);
  };

  it('are ordinary scopes and tags', async () => {
    expect(await listed([])).toEqual([]);
    for (const name of names) {
      expect(await listed([name])).toEqual([`scope_${name}`]);
      expect(await listed([`${name}:tag`])).toEqual([`tag_${name}`]);
    }
  });

  it('name no tool, prompt or resource', async () => {
    const call = inProcess(server, { caller: ann });
    for (const name of names) {
      expect((await failureOf(call('tools/call', { name }))).message).toMatch(/^Unknown tool: /);
      expect((await failureOf(call('resources/read', { uri: name }))).message).toMatch(
        /^Resource not found: /,
      );
      const ref = { type: 'ref/prompt', name };
      const complete = call('completion/complete', { ref, argument: { name: 'a', value: '' } });
      expect((await failureOf(complete)).message).toMatch(/^Unknown prompt: /);
      expect((await failureOf(call(name))).message).toMatch(/^Method not found: /);
    }
  });
});

describe('a definition with scopes', () => {
  const server = createServer({
    ...quiet,
    tools: { read: tool({ scopes: ['read'], run }), save: tool({ scopes: ['read', 'write', 'admin'], run }) },
  });

  it('is listed only for callers that have all of them', async () => {
    const { tools, cacheScope } = await inProcess(server, { caller: ann })('tools/list');
    expect((tools as Named).map(({ name }) => name)).toEqual(['read']);
    expect(cacheScope).toBe('private');
  });

  it('answers a caller that lacks some with a challenge that names all the missing ones at once', async () => {
    const error = await inProcess(server, { caller: ann })('tools/call', { name: 'save' }).catch((it) => it);
    expect(error).toMatchObject({
      code: 'forbidden',
      status: 403,
      data: { scopes: ['write', 'admin'] },
      challenge: { error: 'insufficient_scope', scopes: ['write', 'admin'] },
    });
  });

  it('answers an anonymous caller with a challenge to log in, without an error code', async () => {
    const call = anonymously(server);
    const error = await call('tools/call', { name: 'save' }).catch((it) => it);
    expect(error).toMatchObject({
      code: 'unauthorized',
      status: 401,
      challenge: { scopes: ['read', 'write', 'admin'] },
    });
    expect(error.challenge.error).toBeUndefined();
    expect((await call('tools/list'))['tools']).toEqual([]);
  });

  it('is open to a local caller, which is trusted, but not to one that acts for somebody', async () => {
    const local = inProcess(server);
    expect((await local('tools/list'))['tools']).toHaveLength(2);
    expect(await local('tools/call', { name: 'save' })).toMatchObject({ resultType: 'complete' });
    await expect(
      inProcess(server, { caller: { subject: 'x' } })('tools/call', { name: 'read' }),
    ).rejects.toThrow();
  });
});

describe('a definition that `allow` refuses', () => {
  const isBob = (auth: { subject: string } | undefined): boolean => auth?.subject === 'bob';
  const guarded = createServer({
    ...quiet,
    tools: {
      'user.delete': tool({ allow: isBob, scopes: ['admin'], run }),
      'user.find': tool({ run }),
    },
    prompts: { review: prompt({ allow: isBob, run }), reverse: prompt({ run }) },
    resources: {
      'doc://secret': resource({ allow: isBob, read: run }),
      'doc://private/{id}': resource({ allow: isBob, read: run, complete: { id: () => ['1'] } }),
    },
  });
  const without = createServer({
    ...quiet,
    tools: { 'user.find': tool({ run }) },
    prompts: { reverse: prompt({ run }) },
    resources: { 'doc://{+other}': resource({ read: () => undefined, complete: { other: () => [] } }) },
  });

  it.each([
    ['tools/call', { name: 'user.delete' }],
    ['tools/call', { name: 'user.delete', arguments: { wrong: 1 } }],
    ['tools/call', { name: 'user.delet' }],
    ['prompts/get', { name: 'review' }],
    ['prompts/get', { name: 'reviev' }],
    ['resources/read', { uri: 'doc://secret' }],
    ['resources/read', { uri: 'doc://private/1' }],
    [
      'completion/complete',
      { ref: { type: 'ref/prompt', name: 'review' }, argument: { name: 'a', value: '' } },
    ],
    [
      'completion/complete',
      { ref: { type: 'ref/resource', uri: 'doc://private/{id}' }, argument: { name: 'id', value: '' } },
    ],
  ])('is as unknown in %s as on a server that does not have it: %j', async (method, params) => {
    const hidden = await failureOf(inProcess(guarded, { caller: ann })(method, params));
    const missing = await failureOf(inProcess(without, { caller: ann })(method, params));
    expect(hidden).toEqual(missing);
  });

  it('gives no challenge that tells of it, even if scopes are missing, too', async () => {
    expect(
      await failureOf(inProcess(guarded, { caller: ann })('tools/call', { name: 'user.delete' })),
    ).toMatchObject({
      code: 'invalid_params',
    });
    expect(
      await failureOf(inProcess(guarded, { caller: bob })('tools/call', { name: 'user.delete' })),
    ).toMatchObject({
      code: 'forbidden',
    });
  });

  it('is never suggested, and a visible definition still is', async () => {
    const { message } = await failureOf(
      inProcess(guarded, { caller: ann })('tools/call', { name: 'user.fnd' }),
    );
    expect(message).toBe('Unknown tool: user.fnd. Did you mean "user.find"?');
    const other = await failureOf(
      inProcess(guarded, { caller: ann })('tools/call', { name: 'user.deleted' }),
    );
    expect(other.message).not.toContain('user.delete"');
  });

  it('answers the first definition of a URI alone, so that a general template does not open what a rule closes', async () => {
    const server = createServer({
      ...quiet,
      resources: {
        'doc://secret': resource({ allow: isBob, read: () => 'for bob' }),
        'doc://{name}': resource({
          read: ({ name }) => `about ${name}`,
          list: () => ['doc://secret', 'doc://open'],
        }),
      },
    });
    const call = inProcess(server, { caller: ann });
    await expect(call('resources/read', { uri: 'doc://secret' })).rejects.toMatchObject({
      code: 'resource_not_found',
    });
    const { resources } = await call('resources/list');
    expect((resources as { uri: string }[]).map(({ uri }) => uri)).toEqual(['doc://open']);
  });
});

describe('`allow`', () => {
  it('sees no input for lists, and only checked input in calls', async () => {
    const seen: unknown[] = [];
    const allow = (_: unknown, input: unknown): boolean => {
      seen.push(input);
      return true;
    };
    const server = createServer({
      ...quiet,
      tools: {
        t: tool({ input: z.object({ n: z.coerce.number(), unit: z.string().default('m') }), allow, run }),
      },
      prompts: { p: prompt({ args: z.object({ topic: z.string() }), allow, run }) },
      resources: { 'doc://{id}': resource({ allow, read: ({ id }) => id }) },
      methods: { 'acme/x': { params: z.object({ a: z.number() }), run: () => ({}) } },
      access: { allow: (_, input, { kind }) => (kind === 'method' ? allow(_, input) : true) },
    });
    const call = inProcess(server, { caller: ann });
    const seenBy = async (...request: Parameters<typeof call>): Promise<unknown[]> => {
      seen.length = 0;
      await call(...request).catch(() => undefined);
      return [...seen];
    };
    expect(await seenBy('tools/list')).toEqual([undefined]);
    expect(await seenBy('tools/call', { name: 't', arguments: { n: '7' } })).toEqual([
      undefined,
      { n: 7, unit: 'm' },
    ]);
    expect(await seenBy('tools/call', { name: 't', arguments: { n: 'x' } })).toEqual([undefined]);
    expect(await seenBy('prompts/get', { name: 'p', arguments: { topic: 'a' } })).toEqual([
      undefined,
      { topic: 'a' },
    ]);
    expect(await seenBy('prompts/get', { name: 'p' })).toEqual([undefined]);
    expect(await seenBy('resources/read', { uri: 'doc://5' })).toEqual([undefined, { id: '5' }]);
    expect(await seenBy('acme/x', { a: 1 })).toEqual([undefined, { a: 1 }]);
    expect(await seenBy('acme/x', { a: 'x' })).toEqual([undefined]);
  });

  it('may refuse by input: such a call is unknown, and the definition does not suggest itself', async () => {
    const ran: unknown[] = [];
    const server = createServer({
      ...quiet,
      tools: {
        remove: tool({
          input: z.object({ owner: z.string() }),
          allow: async (auth, input) => input === undefined || input.owner === auth?.subject,
          run: ({ owner }) => void ran.push(owner),
        }),
      },
    });
    const call = inProcess(server, { caller: ann });
    await call('tools/call', { name: 'remove', arguments: { owner: 'ann' } });
    expect(await failureOf(call('tools/call', { name: 'remove', arguments: { owner: 'bob' } }))).toEqual({
      code: 'invalid_params',
      message: 'Unknown tool: remove',
      data: { kind: 'tool', name: 'remove' },
    });
    expect(ran).toEqual(['ann']);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('the database is at 10.0.0.1');
      },
    ],
    ['rejects', () => Promise.reject(new Error('the database is at 10.0.0.1'))],
    ['returns a value that is not a boolean', () => 'yes'],
    ['resolves with undefined', async () => undefined],
  ])('refuses if it %s, is logged once for each kind, and tells the client nothing', async (_, allow) => {
    const log: string[] = [];
    const server = createServer({
      ...quiet,
      logger: (level, message) => void log.push(`${level} ${message}`),
      tools: { a: tool({ allow: allow as never, run }), b: tool({ allow: allow as never, run }) },
      prompts: { p: prompt({ allow: allow as never, run }) },
    });
    const call = inProcess(server, { caller: ann });
    expect((await call('tools/list'))['tools']).toEqual([]);
    expect((await failureOf(call('tools/call', { name: 'a' }))).message).toBe('Unknown tool: a');
    expect((await failureOf(call('prompts/get', { name: 'p' }))).message).toBe('Unknown prompt: p');
    expect(log.filter((line) => line.includes('"allow" of the tool'))).toHaveLength(1);
    expect(log.filter((line) => line.includes('"allow" of the prompt'))).toHaveLength(1);
    expect(log).toHaveLength(2);
  });
});

/** Calls as an anonymous caller of another computer does: neither local nor identified. */
function anonymously(server: {
  readonly dispatch: Parameters<typeof inProcess>[0]['dispatch'];
}): ReturnType<typeof inProcess> {
  const { dispatch } = server;
  return inProcess({ dispatch: (call) => dispatch({ ...call, signal: call.signal, isLocal: undefined }) });
}
