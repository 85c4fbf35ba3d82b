import { createServer, tool } from 'fullmcp';
import { createHandler } from 'fullmcp/http';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { initialize, modern, post } from '../../../../support/examples/wire.js';

beforeEach(() => vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] }));
afterEach(() => vi.useRealTimers());

const url = 'http://localhost/mcp';
const quiet = createServer({ name: 'quiet', version: '1.0.0', changes: true });
const listen = modern('subscriptions/listen', { notifications: { toolsListChanged: true } });

/** Collects the text of a stream as it arrives. */
function collectText(response: Response): { text: string; ended: Promise<void> } {
  const stream = { text: '', ended: Promise.resolve() };
  stream.ended = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body as ReadableStream<Uint8Array>)
      stream.text += decoder.decode(chunk);
  })();
  return stream;
}

test('each stream is kept alive by its own timer, which ends with the stream', async () => {
  const handle = createHandler(quiet, { keepAliveMs: 1000, requestTimeoutMs: 0 });
  const leave = new AbortController();
  const first = await handle(new Request(post(url, listen.body, listen.headers), { signal: leave.signal }));
  const second = await handle(post(url, listen.body, listen.headers));
  expect(vi.getTimerCount()).toBe(2);
  leave.abort();
  expect(vi.getTimerCount()).toBe(1);
  const stream = collectText(second);
  vi.advanceTimersByTime(1000);
  await first.body?.cancel();
  await handle.close();
  await stream.ended;
  expect(stream.text).toContain('\n: \n\n');
  expect(vi.getTimerCount()).toBe(0);
});

test('a stream in a session of 2025-06-18 ends when it reaches its maximum age', async () => {
  let finish!: () => void;
  const server = createServer({
    name: 'slow',
    version: '1.0.0',
    tools: {
      slow: tool({
        run: async (_input, { progress }) => {
          progress(1);
          await new Promise<void>((resolve) => {
            finish = resolve;
          });
        },
      }),
    },
  });
  const handle = createHandler(server, { maxAgeMs: 1000, keepAliveMs: 1000, requestTimeoutMs: 0 });
  const params = { ...initialize.params, protocolVersion: '2025-06-18' };
  const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const opened = await handle(post(url, { ...initialize, params }, json));
  const headers = { ...json, 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' };
  const call = {
    jsonrpc: '2.0',
    id: 2,
    method: 'tools/call',
    params: { name: 'slow', _meta: { progressToken: 1 } },
  };
  const stream = collectText(await handle(post(url, call, headers)));
  vi.advanceTimersByTime(1500);
  await stream.ended;
  expect(stream.text).toContain('notifications/progress');
  finish();
  await handle.close();
});

test('a clock that jumps forward ends neither streams nor calls', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance', 'Date'] });
  let finish: ((value: string) => void) | undefined;
  const server = createServer({
    name: 'slow',
    version: '1.0.0',
    changes: true,
    tools: { slow: tool({ run: () => new Promise<string>((resolve) => (finish = resolve)) }) },
  });
  const handle = createHandler(server, { requestTimeoutMs: 60_000, maxAgeMs: 60_000, keepAliveMs: 1000 });
  const stream = collectText(await handle(post(url, listen.body, listen.headers)));
  const call = modern('tools/call', { name: 'slow', arguments: {} });
  const answer = handle(post(url, call.body, call.headers));
  await vi.waitFor(() => expect(finish).toBeDefined());
  vi.setSystemTime(Date.now() + 86_400_000);
  vi.advanceTimersByTime(2000);
  finish?.('in time');
  expect(await (await answer).text()).toContain('in time');
  server.changed.tools();
  await handle.close();
  await stream.ended;
  expect(stream.text).toContain('notifications/tools/list_changed');
});
