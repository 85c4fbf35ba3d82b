import { createServer, McpError, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { type TimedCall, timing } from 'fullmcp/middleware';
import { buildCall, toolResult } from 'fullmcp/testing';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import { slowUser } from '../../support/slow-user.js';

function collect() {
  const timed: TimedCall[] = [];
  return { timed, middleware: timing((each) => void timed.push(each)) };
}

describe('timing', () => {
  it.each([
    ['a result', async () => toolResult('done'), 'ok'],
    ['a failed result of a tool', async () => ({ ...toolResult('no'), isError: true }), 'tool_error'],
    ['a question', async () => ({ resultType: 'input_required' }), 'asks'],
    ['an McpError', () => Promise.reject(new McpError('overloaded', 'Later')), 'overloaded'],
    ['any other error', () => Promise.reject(new Error('broken')), 'internal_error'],
  ])('reports how a call with %s ended, and for how long it ran', async (_, next, end) => {
    const { timed, middleware } = collect();
    const call = buildCall('tools/call', { name: 'add' });
    await middleware(call, next as never).catch(() => undefined);
    expect(timed).toMatchObject([{ method: 'tools/call', target: 'add', end, call }]);
    expect(timed[0]?.ms).toBeGreaterThanOrEqual(0);
  });

  it('passes the error on, and reports it', async () => {
    const { timed, middleware } = collect();
    const error = new Error('broken');
    await expect(
      middleware(buildCall('prompts/get', { name: 'p' }), () => Promise.reject(error)),
    ).rejects.toBe(error);
    expect(timed[0]?.error).toBe(error);
  });

  it('gives the outcome even if the report throws or rejects', async () => {
    const unhandled = vi.fn();
    process.on('unhandledRejection', unhandled);
    onTestFinished(() => void process.off('unhandledRejection', unhandled));
    const reports = [
      () => {
        throw new Error('report');
      },
      async () => Promise.reject(new Error('report')),
    ];
    for (const report of reports)
      expect(await timing(report)(buildCall('tools/call'), async () => toolResult('done'))).toEqual(
        toolResult('done'),
      );
    await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).not.toHaveBeenCalled();
  });

  it('does not count the time in which the user of a client is asked', async () => {
    const userTakes = slowUser();
    onTestFinished(() => void vi.useRealTimers());
    const server = createServer({
      name: 'asks',
      version: '1.0.0',
      secret: 'x'.repeat(32),
      tools: {
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
    const { timed, middleware } = collect();
    await using client = await connect(server, {
      use: [middleware],
      elicit: async () => {
        await userTakes(60_000);
        return { action: 'accept', content: { ok: true } };
      },
    });
    await client.callTool('buy');
    const call = timed.find(({ method }) => method === 'tools/call');
    expect(call?.end).toBe('ok');
    expect(call?.ms).toBeLessThan(30_000);
  });

  it('needs a function', () => {
    expect(() => timing(undefined as never)).toThrow('timing needs a function');
  });
});
