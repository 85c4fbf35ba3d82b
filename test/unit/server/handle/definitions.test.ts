import { createServer, prompt, resource, tool } from 'fullmcp';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

function office() {
  return createServer({
    name: 'office',
    version: '1',
    logger: () => undefined,
    tools: {
      add: tool({
        description: 'Adds',
        input: z.object({ a: z.number(), b: z.number().default(1) }),
        run: ({ a, b }) => a + b,
      }),
      pay: tool({ scopes: ['pay'], run: () => 'paid' }),
      file: tool({
        input: z.object({ owner: z.string() }),
        allow: (auth, input) => input === undefined || input.owner === auth?.subject,
        run: () => 'filed',
      }),
    },
    resources: {
      'a://b': resource({ title: 'B', read: () => 'b' }),
      'a://{x}/y': resource({ read: () => 'y' }),
      'a://secret': resource({ allow: () => false, read: () => 'secret' }),
    },
    prompts: {
      greet: prompt({ args: z.object({ who: z.string() }), run: ({ who }) => `Hello ${who}` }),
      boss: prompt({ allow: (auth) => auth?.subject === 'boss', run: () => 'Hello' }),
    },
  });
}

const ann = { caller: { subject: 'ann' } };
const namesOf = (list: readonly object[]): unknown[] =>
  list.map((listed) => {
    const { name, uri, uriTemplate } = listed as Record<string, unknown>;
    return uri ?? uriTemplate ?? name;
  });

describe('the definitions of a server', () => {
  test('are listed as clients list them, all of them without a caller', async () => {
    const { definitions } = office();
    expect(namesOf(await definitions.tools.list())).toEqual(['add', 'pay', 'file']);
    expect(namesOf(await definitions.resources.list())).toEqual(['a://b', 'a://secret']);
    expect(namesOf(await definitions.templates.list())).toEqual(['a://{x}/y']);
    expect(namesOf(await definitions.prompts.list())).toEqual(['greet', 'boss']);
  });

  test('are those that a caller may use, if a caller is given', async () => {
    const { definitions } = office();
    expect(namesOf(await definitions.tools.list(ann))).toEqual(['add', 'file']);
    const payer = { caller: { subject: 'bob', scopes: ['pay'] } };
    expect(namesOf(await definitions.tools.list(payer))).toEqual(['add', 'pay', 'file']);
    expect(namesOf(await definitions.resources.list(ann))).toEqual(['a://b']);
    expect(namesOf(await definitions.prompts.list(ann))).toEqual(['greet']);
    expect(await definitions.tools.get('pay', ann)).toBeUndefined();
    expect(await definitions.prompts.get('boss', ann)).toBeUndefined();
    expect(await definitions.resources.get('a://secret', ann)).toBeUndefined();
  });

  test('are found by name or URI, as copies', async () => {
    const { definitions } = office();
    const add = await definitions.tools.get('add');
    expect(add).toMatchObject({ name: 'add', description: 'Adds', inputSchema: { required: ['a'] } });
    (add as unknown as { description: string }).description = 'Subtracts';
    expect((await definitions.tools.get('add'))?.description).toBe('Adds');
    expect(await definitions.resources.get('a://b')).toMatchObject({ uri: 'a://b', title: 'B' });
    expect(await definitions.templates.get('a://{x}/y')).toMatchObject({ uriTemplate: 'a://{x}/y' });
    expect(await definitions.prompts.get('greet')).toMatchObject({ arguments: [{ name: 'who' }] });
    expect(await definitions.tools.get('toString')).toBeUndefined();
    expect(await definitions.tools.get('__proto__')).toBeUndefined();
  });

  test('follow what is added, removed and mounted', async () => {
    const server = office();
    const { remove } = server.tool('later', {}, () => 'x');
    server.mount('inner', office());
    expect(namesOf(await server.definitions.tools.list())).toEqual([
      ...['add', 'pay', 'file', 'later'],
      ...['inner_add', 'inner_pay', 'inner_file'],
    ]);
    remove();
    expect(await server.definitions.tools.get('later')).toBeUndefined();
  });

  test('of a server with search are the tools that can be found', async () => {
    const server = createServer({
      name: 's',
      version: '1',
      search: true,
      tools: { a: tool({ run: () => 1 }) },
    });
    expect(namesOf(await server.definitions.tools.list())).toEqual(['a']);
    expect(namesOf(await server.definitions.tools.list(ann))).toEqual(['a']);
    expect(await server.definitions.tools.get('search_tools')).toBeUndefined();
  });
});

describe('validate', () => {
  test('checks arguments without a call, and returns what the handler would get', async () => {
    const { tools, prompts } = office().definitions;
    expect(await tools.validate('add', { a: 1 })).toEqual({ ok: true, value: { a: 1, b: 1 } });
    expect(await prompts.validate('greet', { who: 'Ada' })).toEqual({ ok: true, value: { who: 'Ada' } });
  });

  test('says what the model would read, and names the field', async () => {
    const { tools, prompts } = office().definitions;
    const wrong = await tools.validate('add', { a: 'one' });
    expect(wrong).toMatchObject({ ok: false, field: 'a' });
    expect(wrong).toHaveProperty('message', expect.stringMatching(/^Invalid arguments for add\. a: /));
    expect(await prompts.validate('greet')).toMatchObject({
      ok: false,
      field: 'who',
      message: expect.stringMatching(/^Invalid arguments for prompt greet\. who: /),
    });
  });

  test('throws the error of a call for a name that is unknown, or not for the caller', async () => {
    const { tools, prompts } = office().definitions;
    const unknown = (kind: string, name: string) => ({ code: 'invalid_params', data: { kind, name } });
    await expect(tools.validate('nothing', {})).rejects.toMatchObject(unknown('tool', 'nothing'));
    await expect(prompts.validate('nothing', {})).rejects.toMatchObject(unknown('prompt', 'nothing'));
    await expect(prompts.validate('boss', {}, ann)).rejects.toMatchObject(unknown('prompt', 'boss'));
    await expect(tools.validate('pay', {}, ann)).rejects.toMatchObject({ code: 'forbidden' });
    await expect(tools.validate('file', { owner: 'bob' }, ann)).rejects.toMatchObject(
      unknown('tool', 'file'),
    );
    expect(await tools.validate('file', { owner: 'ann' }, ann)).toMatchObject({ ok: true });
    await expect(tools.validate('add', [] as never)).rejects.toMatchObject({ code: 'invalid_params' });
  });

  test('does not run the handler', async () => {
    let runs = 0;
    const server = createServer({ name: 's', version: '1', tools: { a: tool({ run: () => ++runs }) } });
    await server.definitions.tools.validate('a', {});
    expect(runs).toBe(0);
  });
});
