import { createServer, tool } from 'fullmcp';
import { type TestTransport, testClient } from 'fullmcp/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';

// The time of the user is not charged to any call, also if the call began, or its question came, while another question was open.

const LIMIT_MS = 1000;
const THINKING_MS = 30_000;

interface Gate {
  readonly promise: Promise<void>;
  readonly open: () => void;
}

function gate(): Gate {
  let open = (): void => undefined;
  const promise = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { promise, open };
}

const wires: readonly (TestTransport & { readonly name: string })[] = [
  { name: 'in-process', over: 'in-process', revision: '2026-07-28' },
  { name: 'http 2026-07-28', over: 'http', revision: '2026-07-28' },
  { name: 'stdio 2025-11-25', over: 'stdio', revision: '2025-11-25' },
];

beforeEach(() => {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'],
  });
});
afterEach(() => vi.useRealTimers());

/** A client whose user takes a long time, and the work of the server that waits. */
async function setUp({ over, revision }: TestTransport) {
  const [slow, user] = [gate(), gate()];
  let asked = 0;
  const server = createServer({
    name: 'asking',
    version: '1.0.0',
    tools: {
      greet: tool({
        run: async (_, { ask }) => {
          const { name } = await ask('name', { message: 'Name?', schema: z.object({ name: z.string() }) });
          return `Hello ${name}`;
        },
      }),
      slow: tool({ run: () => slow.promise.then(() => 'done') }),
    },
  });
  let nested: (() => Promise<unknown>) | undefined;
  const client = await testClient(server, {
    over,
    revision,
    timeoutMs: LIMIT_MS,
    elicit: async () => {
      asked++;
      if (nested !== undefined) await nested();
      else await user.promise;
      return { action: 'accept', content: { name: 'Ada' } };
    },
  });
  const questions = (count: number): Promise<unknown> =>
    vi.waitFor(() => expect(asked).toBe(count), { timeout: 10_000, interval: 1 });
  return { client, slow, user, questions, nest: (work: () => Promise<unknown>) => (nested = work) };
}

describe.each(wires)('over $name', (wire) => {
  it('a second question that comes while the first is open does not time out', async () => {
    const { client, user, questions } = await setUp(wire);
    await using _ = client;
    const first = client.callTool('greet');
    await questions(1);
    const second = client.callTool('greet');
    await questions(2);
    await vi.advanceTimersByTimeAsync(THINKING_MS);
    user.open();
    expect((await first).text).toBe('Hello Ada');
    expect((await second).text).toBe('Hello Ada');
  });

  it('a call that begins while a question is open does not time out before the answer', async () => {
    const { client, slow, user, questions } = await setUp(wire);
    await using _ = client;
    const first = client.callTool('greet');
    await questions(1);
    const second = client.callTool('slow');
    await vi.advanceTimersByTimeAsync(THINKING_MS);
    user.open();
    expect((await first).text).toBe('Hello Ada');
    await vi.advanceTimersByTimeAsync(LIMIT_MS / 2);
    slow.open();
    expect((await second).text).toBe('done');
  });

  it('a call that begins while a question is open times out after the answer', async () => {
    const { client, slow, user, questions } = await setUp(wire);
    await using _ = client;
    const first = client.callTool('greet');
    await questions(1);
    const second = client.callTool('slow').catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(THINKING_MS);
    user.open();
    await first;
    await vi.advanceTimersByTimeAsync(2 * LIMIT_MS + 2000);
    expect(await second).toMatchObject({ code: 'timeout' });
    slow.open();
  });

  it('a handler that calls the server and gets no response still reaches maxTimeoutMs', async () => {
    const { client, slow, questions, nest } = await setUp(wire);
    await using _ = client;
    let error: unknown;
    nest(async () => {
      error = await client.callTool('slow', {}, { maxTimeoutMs: 5000 }).catch((reason: unknown) => reason);
    });
    const first = client.callTool('greet');
    await questions(1);
    for (let step = 0; error === undefined && step < 20; step++) await vi.advanceTimersByTimeAsync(500);
    slow.open();
    expect((await first).text).toBe('Hello Ada');
    expect(error).toMatchObject({ code: 'timeout', message: expect.stringContaining('maxTimeoutMs') });
  });
});
