import { McpError } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { serve } from 'fullmcp/node';
import { describe, expect, test } from 'vitest';
import { type FaultPlan, randomPlan, startFaults } from '../../../../src/testing/faults/faults.js';
import { faultyFetch } from '../../../../src/testing/faults/faulty-fetch.js';
import { mockServer } from '../../../../src/testing/mock-server.js';

interface Server {
  readonly fetch: typeof fetch;
  readonly bodies: string[];
}

function server(answer: (request: Request) => Response): Server {
  const bodies: string[] = [];
  return {
    bodies,
    fetch: async (input, init) => {
      const request = new Request(input, init);
      request.signal.throwIfAborted();
      bodies.push(await request.clone().text());
      return answer(request);
    },
  };
}

const json = (): Response => Response.json({ answer: 'forty-two' });
const events = (): Response =>
  new Response('data: one\n\ndata: two\r\n\r\ndata: three\n\n', {
    headers: { 'content-type': 'text/event-stream' },
  });

const URL = 'http://localhost/mcp';
const post = { method: 'POST', body: '{"question":"of everything"}' };

async function outcome(fetch: typeof globalThis.fetch, signal?: AbortSignal): Promise<string> {
  try {
    const response = await fetch(URL, { ...post, ...(signal && { signal }) });
    return `${response.status} ${await response.text()}`;
  } catch (error) {
    return `${(error as Error).name}`;
  }
}

async function outcomes(answer: () => Response, plan: FaultPlan, count = 40): Promise<string[]> {
  const fetch = faultyFetch(server(answer).fetch, plan);
  const all: string[] = [];
  for (let i = 0; i < count; i++) all.push(await outcome(fetch, AbortSignal.timeout(20)));
  return all;
}

test('a faulty fetch without faults changes neither the request nor the response', async () => {
  const inner = server(json);
  const fetch = faultyFetch(inner.fetch, { seed: 1 });
  const response = await fetch(URL, { ...post, headers: { 'x-test': '1' } });
  expect(response.headers.get('content-type')).toContain('application/json');
  expect(await response.json()).toEqual({ answer: 'forty-two' });
  expect(inner.bodies).toEqual([post.body]);
  const stream = await faultyFetch(server(events).fetch, { seed: 1 })(URL);
  expect(await stream.text()).toBe('data: one\n\ndata: two\r\n\r\ndata: three\n\n');
});

test('a faulty fetch does the same for the same seed, and something else for another', async () => {
  const plan = { drop: 0.1, truncate: 0.2, garble: 0.2, close: 0.1, duplicate: 0.1 };
  const first = await outcomes(events, { ...plan, seed: 5 });
  expect(await outcomes(events, { ...plan, seed: 5 })).toEqual(first);
  expect(await outcomes(events, { ...plan, seed: 6 })).not.toEqual(first);
});

describe('a fault of a faulty fetch', () => {
  test('drop rejects like a failed network, never answers, or loses an event', async () => {
    const results = new Set(await outcomes(json, { seed: 1, drop: 0.5 }));
    expect(results).toEqual(new Set(['200 {"answer":"forty-two"}', 'TypeError', 'TimeoutError']));
    const streams = await outcomes(events, { seed: 1, drop: 0.3 });
    expect(streams).toContain('200 data: one\n\ndata: three\n\n');
  });

  test('close delivers the request, but not the response', async () => {
    const inner = server(json);
    const fetch = faultyFetch(inner.fetch, { seed: 1, close: 1 });
    expect(await outcome(fetch)).toBe('TypeError');
    expect(inner.bodies).toEqual([post.body]);
    expect(await outcomes(events, { seed: 1, close: 0.3 })).toContain('TypeError');
  });

  test('duplicate sends the request twice, or an event twice', async () => {
    const inner = server(json);
    expect(await outcome(faultyFetch(inner.fetch, { seed: 1, duplicate: 1 }))).toBe(
      '200 {"answer":"forty-two"}',
    );
    expect(inner.bodies).toEqual([post.body, post.body]);
    const doubled = await outcomes(events, { seed: 1, duplicate: 1 }, 1);
    expect(doubled[0]?.match(/three/g)).toHaveLength(2);
  });

  test('truncate cuts the request, or ends the response early, cleanly or not', async () => {
    const inner = server(json);
    const fetch = faultyFetch(inner.fetch, { seed: 1, truncate: 0.5 });
    const results: string[] = [];
    for (let i = 0; i < 40; i++) results.push(await outcome(fetch));
    expect(inner.bodies.every((body) => post.body.startsWith(body))).toBe(true);
    expect(new Set(inner.bodies).size).toBeGreaterThan(5);
    expect(results).toContain('TypeError');
    expect(results.some((text) => text.startsWith('200') && text.length < 20)).toBe(true);
  });

  test('garble changes characters, but not the length', async () => {
    const results = await outcomes(json, { seed: 1, garble: 1 });
    expect(results.every((text) => text.length === '200 {"answer":"forty-two"}'.length)).toBe(true);
    expect(new Set(results).size).toBeGreaterThan(20);
  });

  test('stall pauses a response until the faults stop', async () => {
    const faults = startFaults({ seed: 4, stall: 0.4 });
    const fetch = faultyFetch(server(events).fetch, faults);
    const open: Promise<string>[] = [];
    for (let i = 0; i < 10; i++) open.push(outcome(fetch));
    const first = await Promise.race([Promise.all(open), new Promise((resolve) => setTimeout(resolve, 20))]);
    expect(first).toBeUndefined();
    expect(faults.events.length).toBeGreaterThan(2);
    faults.stop();
    expect(new Set(await Promise.all(open))).toEqual(
      new Set(['200 data: one\n\ndata: two\r\n\r\ndata: three\n\n']),
    );
  });

  test('delay delivers the response later', async () => {
    const faults = startFaults({ seed: 1, delay: 1, maxDelayMs: 2 });
    expect(await outcome(faultyFetch(server(events).fetch, faults))).toContain('three');
    expect(faults.events.map(({ fault }) => fault)).toEqual(['delay', 'delay', 'delay', 'delay']);
  });
});

test('cancelling a stream of a faulty fetch cancels the stream below it', async () => {
  let cancelled = false;
  const endless = (): Response =>
    new Response(
      new ReadableStream({
        start: (controller) => controller.enqueue(new TextEncoder().encode('data: one\n\n')),
        cancel: () => {
          cancelled = true;
        },
      }),
      { headers: { 'content-type': 'text/event-stream' } },
    );
  const response = await faultyFetch(server(endless).fetch, { seed: 1 })(URL);
  const reader = response.body?.getReader();
  expect(new TextDecoder().decode((await reader?.read())?.value)).toBe('data: one\n\n');
  await reader?.cancel();
  expect(cancelled).toBe(true);
});

test.each(['2026-07-28', '2025-11-25'] as const)(
  'a client of %s on a real socket survives the faults of a faulty fetch',
  async (revision) => {
    const mock = mockServer({ tools: { hello: 'Hello' } });
    await using serving = await serve(mock, { port: 0, signals: false });
    const faults = startFaults({ seed: 2, after: 4, close: 0.1, truncate: 0.1, drop: 0.05 });
    await using client = await connect(serving.url, {
      revision,
      fetch: faultyFetch(fetch, faults),
      timeoutMs: 1500,
      maxRetries: 0,
    });
    const ends: string[] = [];
    for (let i = 0; i < 30; i++) {
      const call = client.callTool('hello');
      ends.push(
        await call.then(
          ({ text }) => text,
          (error) => (McpError.is(error) ? 'McpError' : String(error)),
        ),
      );
    }
    expect(new Set(ends)).toEqual(new Set(['Hello', 'McpError']));
    faults.stop();
    expect((await client.callTool('hello')).text).toBe('Hello');
  },
);

test('random plans are the same for a seed, and of every kind', () => {
  const plans = Array.from({ length: 200 }, (_, seed) => randomPlan(seed));
  expect(plans).toEqual(Array.from({ length: 200 }, (_, seed) => randomPlan(seed)));
  const kinds = new Set(plans.flatMap((plan) => Object.keys(plan)));
  expect(kinds).toEqual(
    new Set(['seed', 'maxDelayMs', 'drop', 'delay', 'duplicate', 'truncate', 'garble', 'close', 'stall']),
  );
});
