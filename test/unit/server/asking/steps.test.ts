import { type Context, createServer, type InProcess, inProcess, ToolError, tool } from 'fullmcp';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';

const able = { capabilities: { elicitation: {} } };
const sure = { message: 'Sure?', schema: z.object({ ok: z.boolean() }) };
const yes = { action: 'accept', content: { ok: true } };

function build(run: (input: unknown, ctx: Context) => unknown) {
  const log = vi.fn();
  const options = { name: 'test', version: '1.0.0', secret: 'x'.repeat(32), logger: log };
  const server = createServer({ ...options, tools: { t: tool({ run }) } });
  return { log, call: inProcess(server, able) };
}

async function answer(call: InProcess, previous: object) {
  const { requestState } = previous as { requestState: string };
  return call('tools/call', { name: 't', inputResponses: { sure: yes }, requestState });
}

describe('a step', () => {
  test('returns the same value in the run that executes it and in the next', async () => {
    const values: unknown[] = [];
    const { call } = build(async (_, ctx) => {
      values.push(await ctx.step('when', () => ({ at: new Date(0), gone: undefined, name: 'é' })));
      await ctx.ask('sure', sure);
      return 'done';
    });
    await answer(call, await call('tools/call', { name: 't' }));
    expect(values).toEqual([{ at: '1970-01-01T00:00:00.000Z', name: 'é' }, values[0]]);
    expect(values).toHaveLength(2);
  });

  test('that throws is not recorded, and runs again in the next run with the same idempotency key', async () => {
    const keys: string[] = [];
    const { call } = build(async (_, ctx) => {
      await ctx
        .step('mail', ({ idempotencyKey }) => {
          keys.push(idempotencyKey);
          if (keys.length === 1) throw new Error('The mail server is away');
        })
        .catch(() => undefined);
      await ctx.ask('sure', sure);
      return 'done';
    });
    await answer(call, await call('tools/call', { name: 't' }));
    expect(keys).toEqual([keys[0], keys[0]]);
    expect(keys).toHaveLength(2);
  });

  test('runs again when the same answer is sent twice, with the same idempotency key', async () => {
    const keys: string[] = [];
    const { call } = build(async (_, ctx) => {
      await ctx.ask('sure', sure);
      return ctx.step('pay', ({ idempotencyKey }) => keys.push(idempotencyKey));
    });
    const asked = await call('tools/call', { name: 't' });
    await Promise.all([answer(call, asked), answer(call, asked)]);
    expect(keys).toEqual([keys[0], keys[0]]);
    expect(keys).toHaveLength(2);
  });

  test('of a failed call is forgotten: a new call runs it again, with another idempotency key', async () => {
    const keys: string[] = [];
    const { call } = build(async (_, ctx) => {
      await ctx.step('pay', ({ idempotencyKey }) => keys.push(idempotencyKey));
      await ctx.step('mail', () => {
        throw new ToolError('The mail server is away');
      });
    });
    for (let at = 0; at < 2; at++)
      expect(await call('tools/call', { name: 't' })).toMatchObject({ isError: true });
    expect(new Set(keys).size).toBe(2);
  });

  test('may have the name of an inherited property as its key', async () => {
    const { call } = build(async (_, ctx) => {
      const first = await ctx.step('__proto__', () => 'a');
      const second = await ctx.step('constructor', () => 'b');
      await ctx.ask('sure', sure);
      return first + second;
    });
    const done = await answer(call, await call('tools/call', { name: 't' }));
    expect(done).toMatchObject({ content: [{ text: 'ab' }] });
  });
});

describe('a handler that has asked', () => {
  test('and returns nevertheless causes a warning that says what to do, and the client is asked', async () => {
    const { call, log } = build(async (_, ctx) => {
      void ctx.ask('sure', sure);
      return 'done';
    });
    expect((await call('tools/call', { name: 't' })).resultType).toBe('input_required');
    expect(log.mock.calls).toEqual([
      ['warning', expect.stringMatching(/^t returned a value although it had asked "sure".*rethrow/)],
    ]);
  });

  test.each([
    ['the error of its question', (error: unknown) => error],
    ['that error as the cause of another', (cause: unknown) => new Error('wrapped', { cause })],
  ])('causes no warning if it throws %s', async (_, wrap) => {
    const { call, log } = build((_input, ctx) =>
      ctx.ask('sure', sure).catch((error) => {
        throw wrap(error);
      }),
    );
    expect((await call('tools/call', { name: 't' })).resultType).toBe('input_required');
    expect(log).not.toHaveBeenCalled();
  });
});

describe('work that is begun early and awaited late', () => {
  const unhandled = vi.fn();
  beforeEach(() => void process.on('unhandledRejection', unhandled));
  afterEach(() => {
    process.off('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });

  test('may be a step that throws while a question is open', async () => {
    const { call } = build(async (_, ctx) => {
      const mailed = ctx.step('mail', () => {
        throw new ToolError('The mail server is away');
      });
      await ctx.ask('sure', sure);
      return mailed;
    });
    const done = await answer(call, await call('tools/call', { name: 't' }));
    expect(done).toMatchObject({ isError: true, content: [{ text: 'The mail server is away' }] });
  });

  test('may be a step of a tool that another tool calls', async () => {
    const server = createServer({
      name: 'test',
      version: '1.0.0',
      tools: {
        inner: tool({
          run: async (_, ctx) => {
            const mailed = ctx.step('mail', () => Promise.reject(new ToolError('The mail server is away')));
            await new Promise((resolve) => setTimeout(resolve, 1));
            return mailed;
          },
        }),
        outer: tool({ run: (_, ctx) => ctx.call('inner') }),
      },
    });
    expect(await inProcess(server)('tools/call', { name: 'outer' })).toMatchObject({ isError: true });
  });

  test('may be a question that the client does not support', async () => {
    const server = createServer({
      name: 'test',
      version: '1.0.0',
      tools: {
        t: tool({
          run: async (_, ctx) => {
            const question = ctx.ask('sure', sure);
            await ctx.step('work', () => new Promise((resolve) => setTimeout(resolve, 1)));
            return question;
          },
        }),
      },
    });
    await expect(inProcess(server)('tools/call', { name: 't' })).rejects.toMatchObject({
      code: 'missing_capability',
    });
  });
});

describe('the function of a step', () => {
  test.each(['step', 'ask'] as const)('cannot begin with ctx.%s, which is an error at once', async (what) => {
    const { call } = build((_, ctx) =>
      ctx.step('outer', async () => {
        await (what === 'step' ? ctx.step('inner', () => 1) : ctx.ask('inner', sure));
      }),
    );
    await expect(call('tools/call', { name: 't' })).rejects.toMatchObject({
      message: expect.stringMatching(/^"inner" was started inside the step "outer"/),
    });
  });

  test('may run in parallel with others that begin in the same moment', async () => {
    const { call } = build(async (_, ctx) => {
      const all = ['a', 'b', 'c'].map((key) => ctx.step(key, () => key));
      return (await Promise.all(all)).join('');
    });
    expect(await call('tools/call', { name: 't' })).toMatchObject({ content: [{ text: 'abc' }] });
  });

  test('that starts a step after an await fails in the next run, which does not reach that step again', async () => {
    const { call } = build(async (_, ctx) => {
      await ctx.step('outer', async () => {
        await null;
        return ctx.step('inner', () => 1);
      });
      await ctx.ask('sure', sure);
    });
    await expect(answer(call, await call('tools/call', { name: 't' }))).rejects.toMatchObject({
      message: expect.stringMatching(/did not reach "inner" again.* start nothing inside a step/),
    });
  });
});
