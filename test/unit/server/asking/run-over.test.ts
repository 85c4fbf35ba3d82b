import {
  type Context,
  createServer,
  type InProcess,
  inProcess,
  McpError,
  prompt,
  ToolError,
  tool,
} from 'fullmcp';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { signal } from '../../../support/signal.js';
import { soon, until } from '../../../support/until.js';

const quiet = { name: 'test', version: '1.0.0', logger: () => undefined, secret: 'x'.repeat(32) };
const able = { capabilities: { elicitation: {} } };
const sure = { message: 'Sure?', schema: z.object({ ok: z.boolean() }) };
const yes = { action: 'accept', content: { ok: true } };

/** Calls until no question is left; every question is answered with yes. */
async function drive(call: InProcess, name: string) {
  let outcome = await call('tools/call', { name });
  while (outcome.resultType === 'input_required') {
    const keys = Object.keys(outcome['inputRequests'] as object);
    const inputResponses = Object.fromEntries(keys.map((key) => [key, yes]));
    outcome = await call('tools/call', { name, inputResponses, requestState: outcome['requestState'] });
  }
  return outcome;
}

const unhandled = vi.fn();
process.on('unhandledRejection', unhandled);
afterEach(async () => {
  // Unhandled rejections are reported after the microtasks of a turn.
  await new Promise((resolve) => setImmediate(resolve));
  expect(unhandled).not.toHaveBeenCalled();
  unhandled.mockClear();
});

describe('a run that waits for an answer begins no further step:', () => {
  test('a step that a slow branch reaches after the question was sent runs once, in the next round', async () => {
    const effects: string[] = [];
    const slow = [signal(), signal()];
    let round = 0;
    const server = createServer({
      ...quiet,
      tools: {
        buy: tool({
          run: async (_, ctx) => {
            const reading = slow[round++] as ReturnType<typeof signal>;
            async function readThenPay() {
              await reading.promise;
              await ctx.step('pay', () => effects.push('pay'));
            }
            await Promise.all([ctx.ask('sure', sure), readThenPay()]);
            return 'done';
          },
        }),
      },
    });
    const call = inProcess(server, able);
    const asked = await call('tools/call', { name: 'buy' });
    slow[0]?.give();
    await new Promise((resolve) => setImmediate(resolve));
    expect(effects).toEqual([]);
    slow[1]?.give();
    const { requestState } = asked;
    const done = await call('tools/call', { name: 'buy', inputResponses: { sure: yes }, requestState });
    expect(done).toMatchObject({ content: [{ text: 'done' }] });
    expect(effects).toEqual(['pay']);
  });

  test('compensation in catch and clean-up in finally wait for the real end', async () => {
    const effects: string[] = [];
    const server = createServer({
      ...quiet,
      tools: {
        compensates: tool({
          run: async (_, ctx) => {
            await ctx.step('create', () => effects.push('create'));
            try {
              await ctx.ask('sure', sure);
            } catch (error) {
              await ctx.step('remove', () => effects.push('remove'));
              throw error;
            }
            return ctx.step('publish', () => effects.push('publish'));
          },
        }),
        cleans: tool({
          run: async (_, ctx) => {
            try {
              await ctx.ask('sure', sure);
              await ctx.step('use', () => effects.push('use'));
            } finally {
              await ctx.step('release', () => effects.push('release'));
            }
          },
        }),
      },
    });
    const call = inProcess(server, able);
    await drive(call, 'compensates');
    expect(effects.splice(0)).toEqual(['create', 'publish']);
    await drive(call, 'cleans');
    expect(effects).toEqual(['use', 'release']);
  });

  test('an inner tool that wraps the error of its question does not make the outer tool compensate', async () => {
    const effects: string[] = [];
    const failures: unknown[] = [];
    const server = createServer({
      ...quiet,
      tools: {
        inner: tool({
          run: async (_, ctx) => {
            try {
              return await ctx.ask('sure', sure);
            } catch (cause) {
              throw new Error('The inner tool failed', { cause });
            }
          },
        }),
        outer: tool({
          run: async (_, ctx) => {
            const result = await ctx.call('inner');
            failures.push(result.isError);
            if (result.isError) await ctx.step('undo', () => effects.push('undo'));
            await ctx.step('go', () => effects.push('go'));
            return 'done';
          },
        }),
      },
    });
    expect(await drive(inProcess(server, able), 'outer')).toMatchObject({ content: [{ text: 'done' }] });
    expect(failures).toEqual([undefined]);
    expect(effects).toEqual(['go']);
  });

  test('the error that a question throws asks to be rethrown', async () => {
    const errors: unknown[] = [];
    const server = createServer({
      ...quiet,
      tools: { asks: tool({ run: (_, ctx) => ctx.ask('sure', sure).catch((error) => errors.push(error)) }) },
    });
    await inProcess(server, able)('tools/call', { name: 'asks' });
    expect(String(errors[0])).toContain('Rethrow this error');
  });
});

describe('a run whose call was cancelled begins no further step:', () => {
  function build() {
    const effects: string[] = [];
    const first = signal();
    const server = createServer({
      ...quiet,
      tools: {
        loops: tool({
          run: async (_, ctx) => {
            for (let at = 0; at < 5; at++) {
              await ctx.step(`step ${at}`, async () => {
                effects.push(`step ${at}`);
                await first.promise;
              });
            }
            return 'done';
          },
        }),
        stubborn: tool({
          run: async (_, ctx) => {
            for (let at = 0; at < 5; at++) {
              await ctx
                .step(`step ${at}`, async () => {
                  effects.push(`step ${at}`);
                  await first.promise;
                })
                .catch(() => undefined);
            }
            return 'done';
          },
        }),
        late: tool({
          run: async (_, ctx) => {
            effects.push('begun');
            await first.promise;
            await ctx.step('step', () => effects.push('step'));
          },
        }),
      },
    });
    return { effects, first, call: inProcess(server, able) };
  }

  test.each(['loops', 'stubborn'])(
    'the running step ends, and the next does not begin (%s)',
    async (name) => {
      const { effects, first, call } = build();
      const controller = new AbortController();
      const calling = call('tools/call', { name }, { signal: controller.signal });
      await until('the first step runs', () => effects.length === 1);
      controller.abort();
      first.give();
      await expect(calling).rejects.toMatchObject({ code: 'cancelled' });
      expect(effects).toEqual(['step 0']);
    },
  );

  test('this holds even if the handler had not reached a step before', async () => {
    const { effects, first, call } = build();
    const controller = new AbortController();
    const calling = call('tools/call', { name: 'late' }, { signal: controller.signal });
    controller.abort();
    first.give();
    await expect(calling).rejects.toMatchObject({ code: 'cancelled' });
    expect(effects).toEqual(['begun']);
  });

  test('an open question throws the cancellation, not the suspension', async () => {
    const errors: unknown[] = [];
    const running = signal();
    const controller = new AbortController();
    const server = createServer({
      ...quiet,
      tools: {
        asks: tool({
          run: async (_, ctx) => {
            // The step keeps the question from being sent.
            const step = ctx.step('slow', () => running.promise);
            await ctx.ask('sure', sure).catch((error) => errors.push(error));
            await step;
          },
        }),
      },
    });
    const calling = inProcess(server, able)('tools/call', { name: 'asks' }, { signal: controller.signal });
    controller.abort();
    await until('the question has thrown', () => errors.length === 1);
    running.give();
    await expect(calling).rejects.toMatchObject({ code: 'cancelled' });
    expect(errors[0]).toMatchObject({ code: 'cancelled', message: 'The call was cancelled' });
  });

  test('a handler that retries forever does not keep others from running', async () => {
    const controller = new AbortController();
    const tries = { outer: 0, inner: 0 };
    let stop = false;
    const server = createServer({
      ...quiet,
      tools: {
        stubborn: tool({
          run: async (_, ctx) => {
            controller.abort();
            while (!stop) await ctx.step(`try ${++tries.outer}`, () => 1).catch(() => undefined);
          },
        }),
        limited: tool({
          timeoutMs: 1,
          run: async (_, ctx) => {
            while (!stop) {
              await ctx.step(`try ${++tries.inner}`, () => new Promise(setImmediate)).catch(() => undefined);
            }
          },
        }),
        outer: tool({ run: async (_, ctx) => (await ctx.call('limited')).content }),
        other: tool({ run: () => 'served' }),
      },
    });
    const call = inProcess(server, able);
    const calling = call('tools/call', { name: 'stubborn' }, { signal: controller.signal });
    expect(await call('tools/call', { name: 'outer' })).toMatchObject({ resultType: 'complete' });
    // Promises alone would block the event loop.
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(await call('tools/call', { name: 'other' })).toMatchObject({ content: [{ text: 'served' }] });
    expect(Math.min(tries.outer, tries.inner)).toBeGreaterThan(10);
    stop = true;
    await expect(calling).rejects.toMatchObject({ code: 'cancelled' });
  });

  test('a handler that had finished its work keeps its result', async () => {
    const controller = new AbortController();
    const server = createServer({
      ...quiet,
      tools: {
        pays: tool({
          run: async (_, ctx) => {
            const paid = await ctx.step('pay', () => 'paid');
            controller.abort();
            return paid;
          },
        }),
      },
    });
    const calling = inProcess(server, able)('tools/call', { name: 'pays' }, { signal: controller.signal });
    expect(await calling).toMatchObject({ content: [{ text: 'paid' }] });
  });

  test('a signal that outlives its calls loses their listeners', async () => {
    const { signal } = new AbortController();
    const listening = vi.spyOn(signal, 'addEventListener');
    const leaving = vi.spyOn(signal, 'removeEventListener');
    const server = createServer({
      ...quiet,
      tools: { t: tool({ run: (_, ctx) => ctx.step('a', () => 1) }) },
    });
    for (let at = 0; at < 3; at++) await inProcess(server, able)('tools/call', { name: 't' }, { signal });
    expect(listening).toHaveBeenCalledTimes(3);
    expect(leaving).toHaveBeenCalledTimes(3);
  });
});

describe('a run that was stopped by its time limit begins no further step:', () => {
  function build() {
    const effects: string[] = [];
    const first = signal();
    const ended = signal();
    const run = async (_: unknown, ctx: Context) => {
      try {
        await first.promise;
        for (let at = 0; at < 5; at++) await ctx.step(`step ${at}`, () => effects.push(`step ${at}`));
        return 'done';
      } finally {
        ended.give();
      }
    };
    const server = createServer({
      ...quiet,
      tools: {
        limited: tool({ timeoutMs: 20, run }),
        outer: tool({
          run: async (_, ctx) => {
            const { isError } = await ctx.call('limited');
            first.give();
            await ended.promise;
            await ctx.step('after', () => effects.push('after'));
            return isError === true;
          },
        }),
      },
    });
    return { effects, first, ended, call: inProcess(server, able) };
  }

  test('the call has its response at the limit, and steps that the handler reaches later do not run', async () => {
    const { effects, first, ended, call } = build();
    expect(await call('tools/call', { name: 'limited' })).toMatchObject({
      isError: true,
      content: [{ text: 'limited took longer than 20 ms and was stopped' }],
    });
    first.give();
    await ended.promise;
    expect(effects).toEqual([]);
  });

  test('an inner tool is stopped alone, and the outer one may continue', async () => {
    const { effects, call } = build();
    expect(await call('tools/call', { name: 'outer' })).toMatchObject({ content: [{ text: 'true' }] });
    expect(effects).toEqual(['after']);
  });

  test('an open question of the stopped tool is not asked', async () => {
    const running = signal();
    const server = createServer({
      ...quiet,
      tools: {
        asks: tool({ timeoutMs: 20, run: (_, ctx) => ctx.ask('sure', sure) }),
        outer: tool({
          run: async (_, ctx) => {
            // While a step runs, the question of the inner tool is not sent.
            const step = ctx.step('slow', () => running.promise);
            const { isError } = await ctx.call('asks');
            running.give();
            await step;
            return isError === true;
          },
        }),
      },
    });
    expect(await inProcess(server, able)('tools/call', { name: 'outer' })).toMatchObject({
      resultType: 'complete',
      content: [{ text: 'true' }],
    });
  });

  test('the inner tools of a stopped one see its signal abort', async () => {
    const aborted = signal();
    const server = createServer({
      ...quiet,
      tools: {
        inner: tool({
          run: (_, { signal }) =>
            new Promise((_resolve, reject) => {
              signal.addEventListener('abort', () => {
                aborted.give();
                reject(signal.reason);
              });
            }),
        }),
        outer: tool({ timeoutMs: 20, run: async (_, ctx) => (await ctx.call('inner')).content }),
      },
    });
    expect(await inProcess(server)('tools/call', { name: 'outer' })).toMatchObject({ isError: true });
    await soon('the inner abort', aborted.promise);
  });
});

describe('a handler that has ended', () => {
  test('leaves nothing behind that can run a step', async () => {
    const effects: string[] = [];
    const errors: unknown[] = [];
    const later = signal();
    const server = createServer({
      ...quiet,
      tools: {
        floats: tool({
          run: (_, ctx) => {
            void later.promise
              .then(() => ctx.step('mail', () => effects.push('mail')))
              .catch((error) => errors.push(error));
            return 'done';
          },
        }),
      },
      prompts: {
        floats: prompt({
          run: async (_, ctx) => {
            await ctx.step('first', () => 1);
            void later.promise.then(() => ctx.ask('sure', sure)).catch((error) => errors.push(error));
            return 'done';
          },
        }),
      },
    });
    const call = inProcess(server, able);
    await call('tools/call', { name: 'floats' });
    await call('prompts/get', { name: 'floats' });
    later.give();
    await until('both have failed', () => errors.length === 2);
    for (const error of errors) expect(String(error)).toContain('The handler has already ended');
    expect(effects).toEqual([]);
  });

  test('with an open question waits for the step that still runs, before its journal is sealed', async () => {
    const effects: string[] = [];
    const running = signal();
    const server = createServer({
      ...quiet,
      tools: {
        hasty: tool({
          run: async (_, ctx) => {
            const slow = ctx.step('slow', async () => {
              await running.promise;
              effects.push('slow');
            });
            const question = ctx.ask('sure', sure);
            await ctx
              .step('fails', () => {
                throw new ToolError('no');
              })
              .catch(() => undefined);
            // Leaves with an open question and a running step.
            if (effects.length === 0) return 'early';
            await Promise.all([question, slow]);
            return 'done';
          },
        }),
      },
    });
    const call = inProcess(server, able);
    const calling = call('tools/call', { name: 'hasty' });
    await new Promise((resolve) => setImmediate(resolve));
    running.give();
    const { requestState, resultType } = await calling;
    expect(resultType).toBe('input_required');
    const done = await call('tools/call', { name: 'hasty', inputResponses: { sure: yes }, requestState });
    expect(done).toMatchObject({ content: [{ text: 'done' }] });
    expect(effects).toEqual(['slow']);
  });
});

test('a key that is used twice fails the second step, but does not end the run', async () => {
  const server = createServer({
    ...quiet,
    tools: {
      twice: tool({
        run: async (_, ctx) => {
          await ctx.step('a', () => 1);
          const error = await ctx.step('a', () => 2).catch((reason) => reason);
          return McpError.is(error) && ctx.step('b', () => 3);
        },
      }),
    },
  });
  expect(await inProcess(server)('tools/call', { name: 'twice' })).toMatchObject({
    content: [{ text: '3' }],
  });
});
