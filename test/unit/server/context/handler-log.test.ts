import { createServer, resource, tool } from 'fullmcp';
import { testClient } from 'fullmcp/testing';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import { until } from '../../../support/until.js';

type Line = readonly [level: string, message: string, detail?: unknown];

const base = { version: '1.0.0', secret: 'x'.repeat(32) };

function shop(name: string, logger?: (...line: Line) => void) {
  return createServer({
    ...{ ...base, name },
    ...(logger && { logger }),
    tools: {
      buy: tool({
        input: z.object({ what: z.string() }),
        run: async ({ what }, { logger, call }) => {
          logger.info(`Buys ${what}`, { what, password: 'hunter22hunter22' });
          await call('pay', {});
          return 'bought';
        },
      }),
      pay: tool({
        run: async (_, ctx) => {
          ctx.logger.warning('Pays late');
          await ctx.read('bill://7');
        },
      }),
      fail: tool({
        run: (_, { logger }) => logger.error('It failed', new Error('No money, token=abcdefgh12345678')),
      }),
      bake: tool({
        task: 'required',
        run: async (_, { logger }) => {
          logger.info('Bakes');
          return 'bread';
        },
      }),
    },
    resources: {
      'bill://{id}': resource({
        read: ({ id }, { logger }) => {
          logger.info('Reads a bill');
          return id;
        },
      }),
    },
  });
}

const ada = { subject: 'ada', issuer: 'https://issuer.example' };
const caller = { subject: 'ada', issuer: 'https://issuer.example' };

describe('ctx.logger', () => {
  afterEach(() => {
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
  });

  it('gives the logger of the server the tool, the call and the caller, also of inner tools and readers', async () => {
    const lines: Line[] = [];
    const server = shop('shop', (...line) => lines.push(line));
    const client = await testClient(server, { caller: ada, over: 'http', logLevel: 'debug' });
    await client.callTool('buy', { what: 'tea' });
    const [buy, pay, bill] = lines as [Line, Line, Line];
    const { id } = buy[2] as { id: unknown };
    expect(buy).toEqual([
      'info',
      'Buys tea',
      {
        method: 'tools/call',
        target: 'buy',
        id,
        caller,
        data: { what: 'tea', password: 'hunter22hunter22' },
      },
    ]);
    expect(pay).toMatchObject(['warning', 'Pays late', { target: 'pay', id, caller }]);
    expect(bill).toMatchObject([
      'info',
      'Reads a bill',
      { method: 'resources/read', target: 'bill://7', id, caller },
    ]);
    expect(lines).toHaveLength(3);
    await client.settled();
    expect(client.received).toEqual([]);
    await client.close();
    await server.close();
  });

  it('names the tool as clients do if its server is mounted, and the id of the task in a task', async () => {
    const lines: Line[] = [];
    const inner = shop('inner', (...line) => lines.push(line));
    const outer = createServer({ ...base, name: 'outer', logger: () => undefined, mount: { shop: inner } });
    const client = await testClient(outer, { caller: ada });
    const task = await client.startTool('shop_bake');
    await task.result();
    await until('the task has logged', () => lines.length > 0);
    expect(lines).toMatchObject([['info', 'Bakes', { target: 'shop_bake', id: task.id, caller }]]);
    await client.close();
    await outer.close();
  });

  it('writes one line to standard error, without secrets and from the level of the environment upwards', async () => {
    vi.stubEnv('MCP_LOG_FORMAT', 'json');
    vi.stubEnv('MCP_LOG_LEVEL', 'info');
    const printed = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const loud = await testClient(shop('loud'), { caller: ada });
    await loud.callTool('buy', { what: 'tea' });
    await loud.callTool('fail');
    const lines = printed.mock.calls.map(([line]) => JSON.parse(String(line)));
    expect(lines[0]).toMatchObject({
      ...{ level: 'info', server: 'loud', message: 'Buys tea', method: 'tools/call', target: 'buy', caller },
      data: { what: 'tea', password: '[redacted]' },
    });
    expect(lines.at(-1)).toMatchObject({
      level: 'error',
      target: 'fail',
      error: { message: 'No money, token=[redacted]' },
    });
    expect(lines).toHaveLength(4);
    printed.mockClear();
    vi.stubEnv('MCP_LOG_LEVEL', 'warning');
    vi.stubEnv('MCP_LOG_FORMAT', 'text');
    const quiet = await testClient(shop('quiet'));
    await quiet.callTool('buy', { what: 'tea' });
    expect(printed.mock.calls.map(([line]) => line)).toEqual([
      expect.stringMatching(/^\[fullmcp\] warning: Pays late \(pay, call .+\)$/),
    ]);
  });

  it('does not end the call if the logger throws or the data cannot be read', async () => {
    const angry = shop('angry', () => {
      throw new Error('The disk is full');
    });
    const client = await testClient(angry);
    expect(await client.callTool('buy', { what: 'tea' })).toMatchObject({ text: 'bought' });
    vi.stubEnv('MCP_LOG_FORMAT', 'json');
    const printed = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const cyclic: Record<string, unknown> = {};
    cyclic['self'] = cyclic;
    const odd = createServer({
      ...{ ...base, name: 'odd' },
      tools: { odd: tool({ run: (_, { logger }) => logger.info('Odd', cyclic) }) },
    });
    await (await testClient(odd)).callTool('odd');
    expect(printed.mock.calls.map(([line]) => JSON.parse(String(line)))).toMatchObject([
      { message: 'Odd', target: 'odd', data: '[unreadable]' },
    ]);
  });

  it('writes large integers and errors inside of the data', async () => {
    vi.stubEnv('MCP_LOG_FORMAT', 'json');
    const printed = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const error = new TypeError('Not a number');
    const rows = createServer({
      ...{ ...base, name: 'rows' },
      tools: { row: tool({ run: (_, { logger }) => logger.info('Row', { id: 2n ** 64n, error }) }) },
    });
    await (await testClient(rows)).callTool('row');
    expect(printed.mock.calls.map(([line]) => JSON.parse(String(line)))).toMatchObject([
      { target: 'row', data: { id: '18446744073709551616', error: { message: 'Not a number' } } },
    ]);
  });

  it('leaves what a logger fails to write to standard error, also if the logger is an async function', async () => {
    vi.stubEnv('MCP_LOG_FORMAT', 'json');
    const printed = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const unhandled = vi.fn();
    process.on('unhandledRejection', unhandled);
    onTestFinished(() => void process.off('unhandledRejection', unhandled));
    const failures = [
      () => {
        throw new Error('The disk is full');
      },
      () => Promise.reject(new Error('The disk is full')),
    ];
    for (const logger of failures) {
      const client = await testClient(shop('full', logger));
      expect(await client.callTool('buy', { what: 'tea' })).toMatchObject({ text: 'bought' });
      await until('the lines are printed', () => printed.mock.calls.length === 3);
      expect(printed.mock.calls.map(([line]) => JSON.parse(String(line)).message)).toContain('Buys tea');
      printed.mockClear();
    }
    expect(unhandled).not.toHaveBeenCalled();
  });
});
