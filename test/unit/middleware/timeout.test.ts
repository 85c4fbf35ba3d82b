import { createServer, type Dispatch, McpError, type Middleware, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { timeout } from 'fullmcp/middleware';
import { buildCall, toolResult } from 'fullmcp/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { slowUser } from '../../support/slow-user.js';

const never: Dispatch = () => new Promise(() => undefined);

afterEach(() => void vi.useRealTimers());

/** The error of a promise that must reject. */
const failure = (promise: Promise<unknown>): Promise<McpError> =>
  promise.then(
    () => {
      throw new Error('The call was answered.');
    },
    (error: McpError) => error,
  );

describe('timeout', () => {
  it('ends a call that ignores its signal, and aborts the signal', async () => {
    vi.useFakeTimers();
    let signal: AbortSignal | undefined;
    const ended = failure(
      timeout(500)(buildCall('tools/call'), (call) => {
        ({ signal } = call);
        return never(call);
      }),
    );
    await vi.advanceTimersByTimeAsync(499);
    expect(signal?.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(60);
    const error = await ended;
    expect([error.code, error.message]).toEqual([
      'timeout',
      'The call took longer than 500 ms, so it was ended.',
    ]);
    expect(signal?.reason).toBe(error);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('passes the outcome and the error of a call in time, and leaves no timer', async () => {
    vi.useFakeTimers();
    const limit = timeout(500);
    expect(await limit(buildCall('tools/call'), async () => toolResult('done'))).toEqual(toolResult('done'));
    const error = new McpError('invalid_params', 'No');
    expect(await failure(limit(buildCall('tools/call'), () => Promise.reject(error)))).toBe(error);
    await vi.runAllTicks();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('ends the call with its own reason if its client cancels it', async () => {
    const controller = new AbortController();
    const call = buildCall('tools/call', {}, { signal: controller.signal });
    const ended = failure(timeout(60_000)(call, never));
    controller.abort(new McpError('cancelled', 'The client left'));
    expect((await ended).message).toBe('The client left');
    expect((await failure(timeout(60_000)(call, never))).code).toBe('cancelled');
  });

  it('does not report the late error of work that ignores its signal', async () => {
    const unhandled = vi.fn();
    process.on('unhandledRejection', unhandled);
    let fail: (error: Error) => void = () => undefined;
    const late: Dispatch = () => new Promise((_, reject) => (fail = reject));
    expect((await failure(timeout(1)(buildCall('tools/call'), late))).code).toBe('timeout');
    fail(new Error('too late'));
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });

  it.each(['subscriptions/listen', 'tasks/result', 'tasks/get', 'tasks/update'])(
    'does not limit %s',
    async (method) => {
      const next = vi.fn(async () => toolResult('done'));
      const call = buildCall(method);
      await timeout(() => 1)(call, next);
      expect(next).toHaveBeenCalledWith(call);
    },
  );

  it('asks a function for the time of each call', async () => {
    const limit = timeout(({ params }) => (params['name'] === 'slow' ? undefined : 1));
    expect(await limit(buildCall('tools/call', { name: 'slow' }), async () => toolResult('done'))).toEqual(
      toolResult('done'),
    );
    expect((await failure(limit(buildCall('tools/call', { name: 'fast' }), never))).code).toBe('timeout');
  });

  it('accepts times that are longer than a timer can wait', async () => {
    expect(await timeout(1e12)(buildCall('tools/call'), async () => toolResult('done'))).toEqual(
      toolResult('done'),
    );
  });

  it.each([0, -1, Number.NaN, '5', undefined])('rejects the time %j', (ms) => {
    expect(() => timeout(ms as number)).toThrow('timeout needs a number of milliseconds');
  });
});

const asking = (use: readonly Middleware[] = [timeout(5000)]) =>
  createServer({
    name: 'asks',
    version: '1.0.0',
    secret: 'x'.repeat(32),
    use,
    tools: {
      hang: tool({
        run: (_, ctx) => new Promise((resolve) => ctx.signal.addEventListener('abort', resolve)),
      }),
      buy: tool({
        run: async (_, ctx) => {
          const { action } = await ctx.elicit('ok', {
            message: 'Really?',
            schema: z.object({ ok: z.boolean() }),
          });
          return action;
        },
      }),
    },
  });

describe('timeout on both ends', () => {
  it('gives the client of a server the code and the sentence', async () => {
    const pass = slowUser();
    await using client = await connect(asking());
    const ended = failure(client.callTool('hang'));
    await pass(5100);
    expect((await ended).message).toContain('took longer than 5000 ms');
  });

  it('does not charge the time of the user, neither on the server nor on the client', async () => {
    const userTakes = slowUser();
    await using client = await connect(asking(), {
      use: [timeout(5000), timeout(5000)],
      elicit: async () => {
        await userTakes(60_000);
        return { action: 'accept', content: { ok: true } };
      },
    });
    expect((await client.callTool('buy')).text).toBe('accept');
  });

  it('still ends a call on the client after the user has answered', async () => {
    const userTakes = slowUser();
    let [isAsked, isHanging] = [false, false];
    const hangAfterQuestion: Middleware = async (call, next) => {
      const outcome = await next(call);
      if (!isAsked) return outcome;
      isHanging = true;
      return never(call);
    };
    await using client = await connect(asking([]), {
      use: [timeout(30_000), hangAfterQuestion],
      elicit: async () => {
        await userTakes(60_000);
        isAsked = true;
        return { action: 'accept', content: { ok: true } };
      },
    });
    const ended = failure(client.callTool('buy'));
    const settled = vi.fn();
    void ended.then(settled);
    while (!isHanging) await new Promise((resolve) => setImmediate(resolve));
    await userTakes(10_000);
    expect(settled).not.toHaveBeenCalled();
    await userTakes(25_000);
    expect((await ended).code).toBe('timeout');
  });
});
