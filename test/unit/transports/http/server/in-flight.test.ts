import { createServer, tool } from 'fullmcp';
import { createHandler } from 'fullmcp/http';
import { serve } from 'fullmcp/node';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { InFlight } from '../../../../../src/transports/http/server/in-flight.js';
import { signal } from '../../../../support/signal.js';

afterEach(() => vi.unstubAllGlobals());

describe('the time limit of calls', () => {
  it('answers the call with an error and aborts the handler’s signal', async () => {
    const aborted = signal<unknown>();
    const server = createServer({
      name: 'test',
      version: '1.0.0',
      logger: () => undefined,
      tools: {
        hangs: tool({
          run: (_, ctx) => {
            ctx.signal.addEventListener('abort', () => aborted.give(ctx.signal.reason));
            return new Promise(() => undefined);
          },
        }),
      },
    });
    const handle = createHandler(server, { requestTimeoutMs: 50 });
    const response = await handle(
      new Request('http://localhost/mcp', {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': 'tools/call',
          'mcp-name': 'hangs',
        },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 7,
          method: 'tools/call',
          params: {
            name: 'hangs',
            _meta: {
              'io.modelcontextprotocol/protocolVersion': '2026-07-28',
              'io.modelcontextprotocol/clientCapabilities': {},
            },
          },
        }),
      }),
    );
    expect(await response.json()).toMatchObject({
      id: 7,
      error: { message: 'The call took longer than 50 ms' },
    });
    expect(await aborted.promise).toMatchObject({ code: 'timeout' });
  });

  // If timers are numbers, they may end with the request that created them.
  it('uses a timer for each call if timers do not belong to the process', async () => {
    const { setTimeout: nodeTimeout, setInterval: nodeInterval } = globalThis;
    const intervals = vi.fn((work: () => void, ms: number) => Number(nodeInterval(work, ms)));
    vi.stubGlobal('setInterval', intervals);
    vi.stubGlobal('setTimeout', (work: () => void, ms: number) => Number(nodeTimeout(work, ms)));
    const inFlight = new InFlight(20);
    const ended = signal<string>();
    const quick = vi.fn();
    const leave = inFlight.enter({ isSubscription: false, end: quick });
    inFlight.enter({ isSubscription: true, end: quick });
    leave();
    inFlight.enter({ isSubscription: false, end: (why) => ended.give(why.code) });
    expect(await ended.promise).toBe('timeout');
    expect(quick).not.toHaveBeenCalled();
    expect(intervals).toHaveBeenCalledOnce();
  });
});

it('serve rejects a port that is in use, and closes the lifespan of the server', async () => {
  const quiet = { name: 'test', version: '1.0.0', logger: () => undefined };
  await using first = await serve(createServer(quiet), { port: 0, signals: false });
  const closed = vi.fn();
  const second = createServer({
    ...quiet,
    lifespan: async function* () {
      yield {};
      closed();
    },
  });
  await expect(serve(second, { port: first.port, signals: false })).rejects.toThrow(
    `Port ${first.port} is taken`,
  );
  expect(closed).toHaveBeenCalledOnce();
});

describe('the drain of open calls', () => {
  it('ends for everybody who waits for it when the last call ends', async () => {
    const inFlight = new InFlight(0);
    const leave = inFlight.enter({ isSubscription: false, end: () => undefined });
    const drains = [inFlight.drain(60_000), inFlight.drain(60_000)];
    leave();
    await Promise.all(drains);
    expect(inFlight.size).toBe(0);
  });
});
