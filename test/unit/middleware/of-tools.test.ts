import { createServer, McpError, ToolError, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';
import {
  type CallLog,
  concurrency,
  errors,
  logging,
  sizeLimit,
  type TimedCall,
  timeout,
  timing,
} from 'fullmcp/middleware';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { until } from '../../support/until.js';

// Middleware in the `use` of single tools, called by clients and by other tools.

describe('middleware of a tool', () => {
  it('measures, logs and limits the calls of clients and of other tools', async () => {
    const timed: TimedCall[] = [];
    const entries: CallLog[] = [];
    const server = createServer({
      name: 'tools',
      version: '1.0.0',
      tools: {
        inner: tool({
          use: [
            logging({ log: (entry) => void entries.push(entry) }),
            timing((each) => void timed.push(each)),
            sizeLimit({ maxResultChars: 1000 }),
          ],
          run: () => 'x'.repeat(2000),
        }),
        outer: tool({ run: async (_, ctx) => (await ctx.call('inner', {})).isError === true }),
      },
    });
    onTestFinished(() => server.close());
    await using client = await connect(server);
    expect((await client.callTool('inner')).isError).toBe(true);
    expect((await client.callTool('outer')).text).toBe('true');
    expect(timed).toMatchObject([
      { target: 'inner', end: 'tool_error' },
      { target: 'inner', end: 'tool_error' },
    ]);
    expect(entries).toHaveLength(2);
  });

  it('ends a handler that takes too long, whose signal aborts', async () => {
    const reasons: unknown[] = [];
    const server = createServer({
      name: 'tools',
      version: '1.0.0',
      tools: {
        hang: tool({
          use: [timeout(20)],
          run: (_, ctx) =>
            new Promise(() => ctx.signal.addEventListener('abort', () => reasons.push(ctx.signal.reason))),
        }),
      },
    });
    onTestFinished(() => server.close());
    await using client = await connect(server);
    await expect(client.callTool('hang')).rejects.toThrow('took longer than 20 ms');
    await until('the signal aborts', () => reasons.length === 1);
  });

  it('runs as many calls of two tools at a time as their common limit allows', async () => {
    const limit = concurrency({ limit: 1 });
    let running = 0;
    let most = 0;
    const one = tool({
      use: [limit],
      run: async () => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setImmediate(resolve));
        running--;
      },
    });
    const server = createServer({ name: 'tools', version: '1.0.0', tools: { a: one, b: { ...one } } });
    onTestFinished(() => server.close());
    await using client = await connect(server);
    await Promise.all(Array.from({ length: 10 }, (_, n) => client.callTool(n % 2 === 0 ? 'a' : 'b')));
    expect(most).toBe(1);
  });

  it('maps the errors of a tool alone', async () => {
    const fail = () => {
      throw new McpError('invalid_params', 'No');
    };
    const use = [errors({ map: () => new ToolError('There is no such order. List the orders first.') })];
    const server = createServer({
      name: 'tools',
      version: '1.0.0',
      tools: { mapped: tool({ use, run: fail }), other: tool({ run: fail }) },
    });
    onTestFinished(() => server.close());
    await using client = await connect(server);
    const { isError, text } = await client.callTool('mapped');
    expect([isError, text]).toEqual([true, 'There is no such order. List the orders first.']);
    await expect(client.callTool('other')).rejects.toMatchObject({ code: 'invalid_params' });
  });

  it('does not treat a question of a tool that another tool has called as a failure', async () => {
    const entries: CallLog[] = [];
    const ends: string[] = [];
    const reported: unknown[] = [];
    const server = createServer({
      name: 'tools',
      version: '1.0.0',
      secret: 'x'.repeat(32),
      tools: {
        inner: tool({
          use: [
            errors({ report: (error) => reported.push(error), map: () => new ToolError('Mapped') }),
            logging({ log: (entry) => void entries.push(entry) }),
            timing(({ end }) => void ends.push(end)),
          ],
          run: async (_, ctx) =>
            (await ctx.elicit('sure', { message: 'Sure?', schema: z.object({ ok: z.boolean() }) })).action,
        }),
        outer: tool({ run: async (_, ctx) => ctx.call('inner', {}) }),
      },
    });
    onTestFinished(() => server.close());
    await using client = await connect(server, {
      elicit: () => ({ action: 'accept', content: { ok: true } }),
    });
    for (const name of ['inner', 'outer']) expect((await client.callTool(name)).text).toBe('accept');
    expect(ends).toEqual(['asks', 'ok', 'asks', 'ok']);
    expect(entries.map(({ level, end, error }) => [level, end, error])).toEqual(
      ends.map((end) => ['info', end, undefined]),
    );
    expect(reported).toEqual([]);
  });
});
