import { createServer, image, inProcess, jsonSchema, memoryStore, type ServerOptions, tool } from 'fullmcp';
import { type Client, connect } from 'fullmcp/client';
import { quickjs } from 'fullmcp/code';
import { policy } from 'fullmcp/middleware';
import { testClient } from 'fullmcp/testing';
import { versions } from 'fullmcp/transform';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { able, lastingStore, waitForStatus } from '../../../support/tasks.js';

interface Row {
  readonly id: string;
  readonly 'a/b': number;
}

const rows: readonly Row[] = Array.from({ length: 400 }, (_, n) => ({ id: `r${n}`, 'a/b': n }));
const rowsSchema = {
  type: 'array',
  items: {
    type: 'object',
    properties: { id: { type: 'string' }, 'a/b': { type: 'number' } },
    required: ['id'],
  },
} as const;

/** A server whose tools return handles, and the values that its tools got. */
function build(options: Partial<ServerOptions> = {}) {
  const got: unknown[] = [];
  const take = (schema: object) =>
    tool({
      input: jsonSchema({ type: 'object', properties: { value: schema, rest: {} } }),
      run(input) {
        got.push((input as { value?: unknown }).value);
        return 'taken';
      },
    });
  const tools = {
    find: tool({ output: jsonSchema(rowsSchema), handle: true, run: (): never => rows as never }),
    find_object: tool({ handle: true, run: () => ({ rows, note: 'x'.repeat(2000) }) }),
    text: tool({ handle: true, run: () => 'word '.repeat(1000) }),
    picture: tool({ handle: true, run: () => image(new Uint8Array(30), 'image/png') }),
    small: tool({ handle: true, run: () => ({ n: 1 }) }),
    huge: tool({ handle: true, run: () => 'x'.repeat(3_000_000) }),
    emoji: tool({ handle: true, run: () => '😀'.repeat(160_000) }),
    fails: tool({
      handle: true,
      run() {
        throw new Error('secret');
      },
    }),
    outer: tool({
      run: async (_, ctx) => JSON.stringify((await ctx.call('find')).structuredContent).length,
    }),
    as_task: tool({ handle: true, task: 'required', run: () => ({ rows }) }),
    asks: tool({
      handle: true,
      input: jsonSchema({ type: 'object', properties: { value: { type: 'array' } } }),
      async run(input, ctx) {
        await ctx.ask('sure', { message: 'Sure?', schema: z.object({ ok: z.boolean() }) });
        return { count: (input as { value: unknown[] }).value.length };
      },
    }),
    take_array: take(rowsSchema),
    take_text: take({ type: 'string' }),
    take_number: take({ type: 'number' }),
    take_any: take({}),
  };
  const server = createServer({
    name: 'values',
    version: '1.0.0',
    secret: 's'.repeat(32),
    logger: () => undefined,
    tools,
    ...options,
  } as ServerOptions);
  onTestFinished(() => server.close());
  return { server, got };
}

type Handle = { readonly handle: string; readonly summary: string; readonly preview: string };

async function handleFrom(client: Client, name: string, args: object = {}): Promise<Handle> {
  const { data, isError } = await client.callTool(name, args as never);
  expect(isError).not.toBe(true);
  return data as Handle;
}

/** Passes a value or a handle to a tool. Returns the error, or undefined. */
async function give(client: Client, value: unknown, name = 'take_array'): Promise<string | undefined> {
  const { isError, text } = await client.callTool(name, { value } as never);
  return isError ? text : undefined;
}

const UNKNOWN = /^Invalid arguments for take_array\. value: This handle stands for no value: it is unknown/;

describe('a tool with handle: true', () => {
  test('returns a handle, a summary and the beginning in place of its value', async () => {
    await using client = await connect(build().server);
    const { handle, summary, preview } = await handleFrom(client, 'find');
    expect(handle).toMatch(/^handle:[0-9a-f]{32}\.0$/);
    const chars = JSON.stringify(rows).length;
    expect(summary).toBe(
      `An array of 400 items, ${chars} characters of JSON. Pass the handle as an argument of another tool in place of the value, or with a JSON Pointer for a part of it: ${handle}/0`,
    );
    expect(preview).toBe(`${JSON.stringify(rows).slice(0, 1000)}…`);
    expect((await handleFrom(client, 'find_object')).summary).toMatch(
      /^An object with 2 fields \(rows, note\), .*\/rows$/,
    );
    expect((await handleFrom(client, 'small')).preview).toBe('{"n":1}');
    expect((await handleFrom(client, 'text')).summary).toMatch(/^A string of 5000 characters, /);
  });

  test('reports its failures, and values that are too large, as other tools do', async () => {
    await using client = await connect(build().server);
    const failed = await client.callTool('fails' as never);
    expect([failed.isError, failed.text]).toEqual([true, expect.stringContaining('Internal error')]);
    const huge = await client.callTool('huge' as never);
    expect([huge.isError, huge.text]).toEqual([
      true,
      'The value of huge has 3000002 characters of JSON, and at most 2000000 are kept for a handle. Ask for less, or in pages.',
    ]);
  });

  test('lists what it really returns, in every revision', async () => {
    for (const revision of ['2026-07-28', '2025-11-25', '2025-06-18'] as const) {
      await using client = await testClient(build().server, { revision });
      const listed = (await client.tools().all()).find(({ name }) => name === 'find');
      expect(listed?.outputSchema).toMatchObject({ required: ['handle', 'summary', 'preview', 'expiresAt'] });
      expect(listed?._meta).toMatchObject({ 'fullmcp/handle': { value: rowsSchema } });
      // The client validates the result by that schema.
      expect((await handleFrom(client, 'find')).handle).toMatch(/^handle:/);
    }
  });

  test('gives its value to handlers that call it, and to programs', async () => {
    const { server, got } = build({ code: { engine: quickjs() } });
    await using client = await connect(server);
    expect((await client.callTool('outer' as never)).text).toBe(String(JSON.stringify(rows).length));
    const found = await client.callTool('search_tools' as never, { query: 'find take_array' } as never);
    expect(found.text).toContain('tools.find(): { id: string; "a/b"?: number }[];');
    const code =
      'const all = await tools.find({}); await tools.take_array({ value: all.slice(0, 2) }); return all.length;';
    const { data, text } = await client.callTool('run_code' as never, { code } as never);
    expect(data, text).toMatchObject({ result: 400 });
    expect(got).toEqual([rows.slice(0, 2)]);
  });

  test('gives its value to a program whose task another process has taken up', async () => {
    const { store } = lastingStore();
    let begin!: () => void;
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const report = (isHeld: boolean) =>
      tool({
        handle: true,
        task: 'required',
        async run(_, { signal }) {
          begin();
          if (isHeld)
            await new Promise((_resolve, reject) =>
              signal.addEventListener('abort', () => reject(signal.reason as Error)),
            );
          return { rows };
        },
      });
    const start = (isHeld: boolean) =>
      build({ store, code: { engine: quickjs() }, tools: { report: report(isHeld) } }).server;
    const first = start(true);
    const code = 'return (await tools.report({})).rows.length;';
    const { taskId } = await inProcess(first, able)('tools/call', { name: 'run_code', arguments: { code } });
    await begun;
    await first.close();

    const second = start(false);
    await second.start();
    const task = await waitForStatus(inProcess(second, able), taskId, 'completed');
    expect(task['result']).toMatchObject({ structuredContent: { result: 400, calls: 1 } });
  });

  test('keeps the value of a task, and of a call that has asked', async () => {
    const { server, got } = build();
    await using client = await connect(server, {
      elicit: () => ({ action: 'accept', content: { ok: true } }),
    });
    const { handle } = await handleFrom(client, 'as_task');
    expect(await give(client, `${handle}/rows`)).toBeUndefined();
    expect(got).toEqual([rows]);
    const asked = await handleFrom(client, 'asks', { value: `${handle}/rows` });
    expect(asked.preview).toBe('{"count":400}');
  });
});

describe('a handle as an argument', () => {
  test('gives the handler the value, or the part at the pointer', async () => {
    const { server, got } = build();
    await using client = await connect(server);
    const { handle } = await handleFrom(client, 'find');
    expect(await give(client, handle)).toBeUndefined();
    expect(await give(client, `${handle}/3/id`, 'take_text')).toBeUndefined();
    expect(await give(client, `${handle}/7/a~1b`, 'take_number')).toBeUndefined();
    expect(await give(client, `${handle}/1`, 'take_any')).toBeUndefined();
    expect(got).toEqual([rows, 'r3', 7, rows[1]]);
    // Strings and content, too.
    const text = await handleFrom(client, 'text');
    expect(await give(client, text.handle, 'take_text')).toBeUndefined();
    const picture = await handleFrom(client, 'picture');
    expect(await give(client, `${picture.handle}/0/mimeType`, 'take_text')).toBeUndefined();
    const emoji = await handleFrom(client, 'emoji');
    expect(await give(client, emoji.handle, 'take_text')).toBeUndefined();
    expect(got.slice(4)).toEqual(['word '.repeat(1000), 'image/png', '😀'.repeat(160_000)]);
  });

  test('is checked as the value is: the schema of the tool decides', async () => {
    const { server, got } = build();
    await using client = await connect(server);
    const { handle } = await handleFrom(client, 'find');
    expect(await give(client, `${handle}/0`)).toContain('Invalid arguments for take_array');
    expect(await give(client, handle, 'take_text')).toContain('Invalid arguments for take_text');
    expect(got).toEqual([]);
  });

  test('with a pointer to nothing says what is there', async () => {
    await using client = await connect(build().server);
    const { handle } = await handleFrom(client, 'find_object');
    expect(await give(client, `${handle}/rows/400`)).toBe(
      'Invalid arguments for take_array. value: The value of this handle has nothing at "/rows/400". At "/rows" is an array of 400 items.',
    );
    expect(await give(client, `${handle}/nothing/__proto__`)).toContain(
      'has nothing at "/nothing/__proto__"',
    );
  });

  test('that does not exist gets one error, whatever is wrong with it', async () => {
    await using client = await connect(build().server);
    const { handle } = await handleFrom(client, 'find');
    const other = handle.replace(/[0-9a-f]{4}\./, 'ffff.');
    for (const wrong of [
      other,
      handle.slice(0, -3),
      `${handle}9`,
      handle.replace('.0', '.7'),
      `${handle}#/0`,
    ])
      expect(await give(client, wrong)).toMatch(UNKNOWN);
  });

  test('leaves strings alone that are not meant as a handle', async () => {
    const { server, got } = build();
    await using client = await connect(server);
    await give(client, 'handle: with care', 'take_text');
    await give(client, 'handle:bar', 'take_text');
    expect(got).toEqual(['handle: with care', 'handle:bar']);
  });

  test('counts: a call may have sixteen, and the values of all together are limited', async () => {
    await using client = await connect(build({}).server);
    const args: Record<string, string> = {};
    for (let n = 0; n < 17; n++) args[`v${n}`] = (await handleFrom(client, 'small')).handle;
    const many = await client.callTool('take_any' as never, args as never);
    expect(many.text).toContain('A call may have at most 16 handles.');
  });

  test('reaches middleware as the handle, and policies as the value', async () => {
    const passed: unknown[] = [];
    const lengths: number[] = [];
    const { server } = build({
      use: [
        (call, next) => {
          passed.push((call.params['arguments'] as { value?: unknown } | undefined)?.value);
          return next(call);
        },
      ],
      access: policy({
        default: 'allow',
        rules: [
          {
            effect: 'deny',
            tools: 'take_array',
            input: ({ value }) => lengths.push((value as unknown[]).length) < 0,
          },
        ],
      }),
    });
    await using client = await connect(server);
    const { handle } = await handleFrom(client, 'find');
    expect(await give(client, handle)).toBeUndefined();
    expect(passed).toContain(handle);
    expect(lengths).toContain(400);
  });
});

describe('the values behind handles', () => {
  test('belong to their caller: others get the same error as for one that does not exist', async () => {
    const { server, got } = build();
    await using ada = await connect(server, { caller: { subject: 'ada' } });
    await using bob = await connect(server, { caller: { subject: 'bob' } });
    const { handle } = await handleFrom(ada, 'find');
    const foreign = await give(bob, handle);
    expect(foreign).toMatch(UNKNOWN);
    expect(foreign).toBe(await give(bob, handle.replace(/[0-9a-f]{4}\./, '0000.')));
    expect(got).toEqual([]);
    expect(await give(ada, handle)).toBeUndefined();
  });

  test('work in another process with the same store, and after a restart', async () => {
    const store = memoryStore();
    const [one, two] = [build({ store }), build({ store })];
    await using first = await connect(one.server);
    const { handle } = await handleFrom(first, 'find');
    await using second = await connect(two.server);
    expect(await give(second, handle)).toBeUndefined();
    expect(two.got).toEqual([rows]);
    await using other = await connect(build({ store, name: 'others' }).server);
    expect(await give(other, handle)).toMatch(UNKNOWN);
  });

  test('expire after a day, and a caller has at most twenty', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    await using client = await connect(build().server);
    const first = await handleFrom(client, 'find');
    vi.advanceTimersByTime(86_300_000);
    expect(await give(client, first.handle)).toBeUndefined();
    vi.advanceTimersByTime(200_000);
    expect(await give(client, first.handle)).toMatch(UNKNOWN);
    const second = await handleFrom(client, 'find');
    for (let n = 0; n < 19; n++) await handleFrom(client, 'small');
    expect(await give(client, second.handle)).toBeUndefined();
    await handleFrom(client, 'small');
    expect(await give(client, second.handle)).toMatch(UNKNOWN);
  });

  test('that cannot be kept make the call fail with a sentence, and the operator is told', async () => {
    const messages: string[] = [];
    const store = memoryStore();
    const { server } = build({
      store: {
        ...store,
        get: store.get.bind(store),
        write: () => Promise.reject(new Error('disk')),
      } as never,
      logger: (_level: unknown, message: string) => void messages.push(message),
    } as never);
    await using client = await connect(server);
    const { isError, text } = await client.callTool('find' as never);
    expect([isError, text]).toEqual([
      true,
      'find has run, but its value could not be kept. Call it again later if it may run twice, or ask for less.',
    ]);
    expect(messages.join()).toContain('The value of the tool "find" could not be kept for a handle');
  });
});

describe('the tools beside one with handle: true', () => {
  test('list that arrays and objects can be handles, with few more characters', async () => {
    await using client = await connect(build().server);
    const tools = new Map((await client.tools().all()).map((one) => [one.name, one]));
    const properties = (name: string): unknown => tools.get(name)?.inputSchema['properties'];
    expect(properties('take_array')).toEqual({
      value: { ...rowsSchema, type: ['array', 'string'], pattern: '^handle:' },
      rest: {},
    });
    expect(properties('take_text')).toEqual({ value: { type: 'string' }, rest: {} });
    expect(properties('take_any')).toEqual({ value: {}, rest: {} });
  });

  test('list a reference, a choice or a combination beside the handle', async () => {
    const input = {
      type: 'object',
      properties: {
        refers: { $ref: '#/$defs/rows', description: 'The rows' },
        either: { anyOf: [{ type: 'array' }, { type: 'null' }] },
        words: { anyOf: [{ type: 'array' }, { type: 'string' }] },
        maybe: { type: ['object', 'null'], properties: { a: {} } },
      },
      $defs: { rows: rowsSchema },
    };
    const { server } = build();
    server.tool('odd', { input: jsonSchema(input) }, () => 1);
    await using client = await connect(server);
    const odd = (await client.tools().all()).find(({ name }) => name === 'odd');
    const handle = { type: 'string', pattern: '^handle:' };
    expect(odd?.inputSchema['properties']).toEqual({
      refers: { description: 'The rows', anyOf: [input.properties.refers, handle] },
      either: { anyOf: [input.properties.either, handle] },
      words: input.properties.words,
      maybe: { type: ['object', 'null', 'string'], properties: { a: {} }, pattern: '^handle:' },
    });
  });

  test('are listed unchanged where no tool returns handles, and nothing is stored for them', async () => {
    const server = createServer({
      name: 'plain',
      version: '1.0.0',
      tools: {
        take: tool({
          input: jsonSchema({ type: 'object', properties: { value: rowsSchema } }),
          run: () => 1,
        }),
      },
    });
    onTestFinished(() => server.close());
    await using client = await connect(server);
    const [listed] = await client.tools().all();
    expect(listed?.inputSchema['properties']).toEqual({ value: rowsSchema });
    const { text } = await client.callTool('take', { value: `handle:${'0'.repeat(32)}.0` } as never);
    expect(text).toContain('expected an array, got the string');
  });

  test('take handles of mounted servers and of versions, from the store of the server that clients connect to', async () => {
    const inner = build().server;
    const server = createServer({
      name: 'outer',
      version: '1.0.0',
      mount: { in: inner },
      tools: {
        old: versions({
          '2.0': tool({ handle: true, run: () => ({ two: rows }) }),
          '1.0': tool({ run: () => 'one' }),
        }),
        count: tool({
          input: z.object({ value: z.array(z.unknown()) }),
          run: ({ value }) => value.length,
        }),
      },
    });
    onTestFinished(() => server.close());
    await using client = (await connect(server)) as unknown as Client;
    const { handle } = await handleFrom(client, 'in_find');
    expect((await client.callTool('count', { value: handle } as never)).data).toBe(400);
    expect((await client.callTool('in_take_array', { value: handle } as never)).isError).not.toBe(true);
    const versioned = await handleFrom(client, 'old');
    expect((await client.callTool('count', { value: `${versioned.handle}/two` } as never)).data).toBe(400);
  });
});
