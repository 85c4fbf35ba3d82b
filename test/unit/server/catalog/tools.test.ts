import { createServer, image, inProcess, jsonSchema, McpError, ToolError, text, tool } from 'fullmcp';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';

const quiet = { name: 'test', version: '1.0.0', logger: () => undefined };

function calling(run: () => unknown, output?: z.ZodType) {
  const server = createServer({
    ...quiet,
    tools: { it: tool({ run, ...(output && { output }) }) },
  });
  return inProcess(server)('tools/call', { name: 'it' });
}

describe('the return value of a handler', () => {
  it.each([
    ['a string', () => 'hello', { content: [{ type: 'text', text: 'hello' }] }],
    ['nothing', () => undefined, { content: [] }],
    ['null', () => null, { content: [{ type: 'text', text: 'null' }] }],
    ['a number', () => 42, { content: [{ type: 'text', text: '42' }] }],
    [
      'an object',
      () => ({ a: 1 }),
      { content: [{ type: 'text', text: '{"a":1}' }], structuredContent: { a: 1 } },
    ],
    ['an array', () => [1, 2], { content: [{ type: 'text', text: '[1,2]' }] }],
    ['an empty array', () => [], { content: [{ type: 'text', text: '[]' }] }],
    ['a block', () => text('x'), { content: [{ type: 'text', text: 'x' }] }],
    [
      'blocks',
      () => [text('x'), image('AA==', 'image/png')],
      {
        content: [
          { type: 'text', text: 'x' },
          { type: 'image', data: 'AA==', mimeType: 'image/png' },
        ],
      },
    ],
    [
      'a full result',
      () => ({ content: [text('x')], isError: true }),
      { content: [{ type: 'text', text: 'x' }], isError: true },
    ],
    [
      'an object with a field named content',
      () => ({ title: 'A book', content: ['chapter 1'] }),
      { structuredContent: { title: 'A book', content: ['chapter 1'] } },
    ],
    ['a promise', async () => 'later', { content: [{ type: 'text', text: 'later' }] }],
  ])('becomes a result: %s', async (_, run, expected) => {
    expect(await calling(run)).toMatchObject({ resultType: 'complete', ...expected });
  });

  it('that fits the output schema is sent as text and as structured content', async () => {
    const output = z.object({ sum: z.number() });
    expect(await calling(() => ({ sum: 3 }), output)).toMatchObject({
      content: [{ type: 'text', text: '{"sum":3}' }],
      structuredContent: { sum: 3 },
    });
  });

  it('keeps the content of a full result next to its validated structured content', async () => {
    const output = z.object({ sum: z.number() });
    const full = { content: [text('three')], structuredContent: { sum: 3 } };
    expect(await calling(() => full, output)).toMatchObject({
      content: [{ text: 'three' }],
      structuredContent: { sum: 3 },
    });
  });

  it('that does not fit the output schema is masked for the client and explained in the log', async () => {
    const log = vi.fn();
    const server = createServer({
      ...quiet,
      logger: log,
      tools: { it: tool({ output: z.object({ sum: z.number() }), run: () => ({ sum: 'three' }) as never }) },
    });
    const result = await inProcess(server)('tools/call', { name: 'it' });
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/^Internal error \(ref /) }],
    });
    expect(String(log.mock.calls[0]?.[2])).toMatch(/output schema.*sum/);
  });

  it('needs no structured content if it is a failure', async () => {
    const failed = { content: [text('no')], isError: true };
    expect(await calling(() => failed, z.object({ sum: z.number() }))).toMatchObject(failed);
  });
});

describe('an error of a handler', () => {
  it('reaches the model if it is a ToolError', async () => {
    const result = await calling(() => {
      throw new ToolError('Order 7 does not exist');
    });
    expect(result).toMatchObject({
      isError: true,
      content: [{ type: 'text', text: 'Order 7 does not exist' }],
    });
  });

  it('stays on the server otherwise, with a reference to find it', async () => {
    const log = vi.fn();
    const secret = new Error('connect ECONNREFUSED db.internal:5432 password=hunter2');
    const server = createServer({
      ...quiet,
      logger: log,
      tools: {
        it: tool({
          run: () => {
            throw secret;
          },
        }),
      },
    });
    const result = await inProcess(server)('tools/call', { name: 'it' });
    expect(JSON.stringify(result)).not.toMatch(/hunter2|ECONNREFUSED/);
    const ref = /ref ([0-9a-f]{8})/.exec(JSON.stringify(result))?.[1];
    expect(ref).toBeDefined();
    expect(log).toHaveBeenCalledWith('error', `Tool "it" failed (ref ${ref})`, secret);
  });

  it('is a protocol error if it is an McpError', async () => {
    const failing = calling(() => {
      throw new McpError('invalid_params', 'no such thing');
    });
    await expect(failing).rejects.toMatchObject({ code: 'invalid_params', message: 'no such thing' });
  });
});

describe('a call of a tool', () => {
  const server = createServer({
    ...quiet,
    tools: {
      add: tool({ input: z.object({ a: z.number(), b: z.number() }), run: ({ a, b }) => a + b }),
      plain: tool({ run: () => 'ok' }),
      typed: tool({
        input: jsonSchema<{ n: number }>({
          type: 'object',
          properties: { n: { type: 'number' } },
          required: ['n'],
        }),
        run: ({ n }) => n + 1,
      }),
    },
  });
  const call = inProcess(server);

  it('with wrong arguments returns text that the model can act on', async () => {
    const result = await call('tools/call', { name: 'add', arguments: { a: 'x' } });
    const [{ text: explanation }] = result['content'] as [{ text: string }];
    expect(result['isError']).toBe(true);
    expect(explanation).toMatch(
      /^Invalid arguments for add\. .*a: expected a number.*b: .*missing.*Valid fields: a, b/s,
    );
  });

  it('with strings for numbers coerces them to the schema', async () => {
    expect(await call('tools/call', { name: 'add', arguments: { a: '1', b: '2' } })).toMatchObject({
      content: [{ type: 'text', text: '3' }],
    });
    expect(await call('tools/call', { name: 'typed', arguments: { n: '1' } })).toMatchObject({
      content: [{ text: '2' }],
    });
  });

  it('may have no arguments', async () => {
    expect(await call('tools/call', { name: 'plain' })).toMatchObject({ content: [{ text: 'ok' }] });
  });

  it.each(['__proto__', 'constructor', 'toString', 'nope', ''])(
    'with an unknown name is an error: %j',
    async (name) => {
      await expect(call('tools/call', { name })).rejects.toMatchObject({
        code: 'invalid_params',
        message: `Unknown tool: ${name}`,
      });
    },
  );

  it('with a name that is not a string, or arguments that are not an object, is an error', async () => {
    await expect(call('tools/call', { name: 7 })).rejects.toMatchObject({ code: 'invalid_params' });
    await expect(call('tools/call', { name: 'add', arguments: [] })).rejects.toMatchObject({
      code: 'invalid_params',
    });
  });
});

describe('a lazily loaded tool', () => {
  it('is loaded with the first call, once', async () => {
    const load = vi.fn(async () => ({ run: () => 'loaded' }));
    const call = inProcess(createServer({ ...quiet, tools: { lazy: tool({ load }) } }));
    expect(load).not.toHaveBeenCalled();
    await Promise.all([call('tools/call', { name: 'lazy' }), call('tools/call', { name: 'lazy' })]);
    expect(await call('tools/call', { name: 'lazy' })).toMatchObject({ content: [{ text: 'loaded' }] });
    expect(load).toHaveBeenCalledOnce();
  });

  it('may be a default export, and is loaded again after a failure', async () => {
    const load = vi
      .fn<() => Promise<{ default: () => string }>>()
      .mockRejectedValueOnce(new Error('disk'))
      .mockResolvedValue({ default: () => 'second time' });
    const call = inProcess(createServer({ ...quiet, tools: { lazy: tool({ load }) } }));
    expect(await call('tools/call', { name: 'lazy' })).toMatchObject({ isError: true });
    expect(await call('tools/call', { name: 'lazy' })).toMatchObject({ content: [{ text: 'second time' }] });
  });
});

describe('time limits of tools', () => {
  it('end the call and abort the handler’s signal', async () => {
    let handlerSignal: AbortSignal | undefined;
    const server = createServer({
      ...quiet,
      tools: {
        slow: tool({
          timeoutMs: 20,
          run: (_, { signal }) => {
            handlerSignal = signal;
            return new Promise(() => undefined);
          },
        }),
      },
    });
    const result = await inProcess(server)('tools/call', { name: 'slow' });
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: 'slow took longer than 20 ms and was stopped' }],
    });
    expect(handlerSignal?.aborted).toBe(true);
    expect(handlerSignal?.reason).toMatchObject({ name: 'TimeoutError' });
  });

  it('come from the server if the tool has none', async () => {
    const slow = tool({ run: () => new Promise(() => undefined) });
    const server = createServer({ ...quiet, timeoutMs: 20, tools: { slow } });
    expect(await inProcess(server)('tools/call', { name: 'slow' })).toMatchObject({
      isError: true,
      content: [{ text: 'slow took longer than 20 ms and was stopped' }],
    });
  });

  it('do not keep the caller’s signal from the handler', async () => {
    const controller = new AbortController();
    const server = createServer({
      ...quiet,
      timeoutMs: 10_000,
      tools: {
        waits: tool({
          run: (_, { signal }) =>
            new Promise((resolve) => signal.addEventListener('abort', () => resolve(String(signal.reason)))),
        }),
      },
    });
    const answer = inProcess(server)('tools/call', { name: 'waits' }, { signal: controller.signal });
    await Promise.resolve();
    controller.abort('enough');
    expect(await answer).toMatchObject({ content: [{ text: 'enough' }] });
  });
});

it('a tool converts its schema when it is defined, and never again', async () => {
  const shape = z.object({ a: z.number() });
  const convert = vi.spyOn(shape['~standard'].jsonSchema, 'input');
  const server = createServer({ ...quiet, tools: { it: tool({ input: shape, run: ({ a }) => a }) } });
  expect(convert).toHaveBeenCalledOnce();
  const call = inProcess(server);
  const first = await call('tools/list');
  for (let n = 0; n < 10; n++) await call('tools/call', { name: 'it', arguments: { a: n } });
  expect(await call('tools/list')).toBe(first);
  expect(convert).toHaveBeenCalledOnce();
});

describe('a tool with "load"', () => {
  it.each([
    [{ run: () => 'named' }, 'named'],
    [{ default: () => 'default' }, 'default'],
  ])('runs the handler that its module exports: %o', async (module, text) => {
    const server = createServer({ ...quiet, tools: { it: tool({ load: async () => module }) } });
    await expect(inProcess(server)('tools/call', { name: 'it' })).resolves.toMatchObject({
      content: [{ text }],
    });
  });

  it.each([{}, { run: 'it' }])('says what to export if its module has no handler: %o', async (module) => {
    const logger = vi.fn();
    const load = async (): Promise<never> => module as never;
    const server = createServer({ ...quiet, logger, tools: { it: tool({ load }) } });
    await inProcess(server)('tools/call', { name: 'it' });
    expect(logger.mock.calls[0]?.[2]).toEqual(
      new TypeError('The module of "load" has no handler. Export a function, as "run" or by default.'),
    );
  });
});
