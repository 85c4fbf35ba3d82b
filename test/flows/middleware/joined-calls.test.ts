import { createServer, type Middleware, tool } from 'fullmcp';
import { type Client, connect, type Progress } from 'fullmcp/client';
import { cache } from 'fullmcp/middleware';
import { serve } from 'fullmcp/node';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';

// The same calls at the same time, made by fullmcp's own client, which asks for the progress of every call.

/** A server whose tool waits until the test lets it end, and clients of it. */
async function build(revision: '2026-07-28' | '2025-11-25') {
  const runs: {
    release: () => void;
    report: (done: number, total?: number, text?: string) => void;
    signal: AbortSignal;
  }[] = [];
  const listeners = new Set<() => void>();
  let arrivals = 0;
  const tell = (): void => {
    for (const listener of listeners) listener();
  };
  const until = (isTrue: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const check = (): void => {
        if (isTrue()) resolve();
      };
      listeners.add(check);
      check();
    });
  const count: Middleware = (call, next) => {
    if (call.params['name'] === 'slow') arrivals++;
    const outcome = next(call);
    tell();
    return outcome;
  };
  const server = createServer({
    name: 'slow',
    version: '1.0.0',
    secret: 'x'.repeat(32),
    use: [count, cache({ ttlMs: 60_000, tools: ['slow', 'asks'] })],
    tools: {
      slow: tool({
        input: z.object({ fails: z.boolean().default(false) }),
        run: ({ fails }, { progress, signal }) =>
          new Promise<string>((resolve, reject) => {
            const number = runs.length + 1;
            const release = () => (fails ? reject(new Error('broken')) : resolve(`run ${number}`));
            runs.push({ release, report: progress, signal });
            tell();
          }),
      }),
      hello: tool({ run: () => 'Hello' }),
      asks: tool({
        run: async (_, ctx) => {
          const { name } = await ctx.ask('name', {
            message: 'Name?',
            schema: z.object({ name: z.string() }),
          });
          return `Hello, ${name}`;
        },
      }),
    },
  });
  const serving = await serve(server, {
    port: 0,
    signals: false,
    auth: (request) => ({ subject: request.headers.authorization ?? 'nobody' }),
  });
  onTestFinished(async () => {
    for (const { release } of runs) release();
    await serving.close();
  });
  const open = async (name: string, answer = name): Promise<Client> => {
    const elicit = () => ({ action: 'accept' as const, content: { name: answer } });
    const client = await connect(serving.url, { revision, auth: name, elicit });
    onTestFinished(() => client.close());
    return client;
  };
  /** Resolves when the handler has begun that many times. */
  const running = (times: number): Promise<void> => until(() => runs.length >= times);
  /** Resolves when that many calls have arrived, and each has had the time to join another one. */
  const arrived = async (calls: number): Promise<void> => {
    await until(() => arrivals >= calls);
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  return { open, runs, running, arrived };
}

/** A call, with the progress that it is told. `reached` resolves when that many notifications have arrived. */
function call(client: Client, options: { signal?: AbortSignal; args?: object } = {}) {
  const told: Progress[] = [];
  const waiting = new Set<() => void>();
  const result = client.callTool(
    'slow',
    { ...options.args },
    {
      ...(options.signal && { signal: options.signal }),
      onProgress(progress) {
        told.push(progress);
        for (const listener of waiting) listener();
      },
    },
  );
  const reached = (count: number): Promise<void> =>
    new Promise((resolve) => {
      const check = () => told.length >= count && resolve();
      waiting.add(check);
      check();
    });
  return { told, result, reached };
}

describe.each(['2026-07-28', '2025-11-25'] as const)('the same calls at the same time in %s', (revision) => {
  test('run once for one caller, and the progress of the run reaches each of them', async () => {
    const { open, runs, running, arrived } = await build(revision);
    const client = await open('ada');
    const first = call(client);
    await running(1);
    const others = [call(client), call(client)];
    await arrived(3);
    runs[0]?.report(1, 3, 'one');
    await Promise.all([first, ...others].map(({ reached }) => reached(1)));
    runs[0]?.report(2, 3, 'two');
    await Promise.all([first, ...others].map(({ reached }) => reached(2)));
    runs[0]?.release();
    const results = await Promise.all([first, ...others].map(({ result }) => result));
    expect(results.map(({ text }) => text)).toEqual(['run 1', 'run 1', 'run 1']);
    expect(runs).toHaveLength(1);
    for (const { told } of [first, ...others])
      expect(told).toMatchObject([
        { progress: 1, total: 3, message: 'one' },
        { progress: 2, total: 3, message: 'two' },
      ]);
  });

  test('end for one of them that is cancelled, and for no other', async () => {
    const { open, runs, running, arrived } = await build(revision);
    const client = await open('ada');
    const first = call(client);
    await running(1);
    const leaving = new AbortController();
    const second = call(client, { signal: leaving.signal });
    await arrived(2);
    leaving.abort();
    await expect(second.result).rejects.toMatchObject({ code: 'cancelled' });
    await client.callTool('hello');
    expect(runs[0]?.signal.aborted).toBe(false);
    runs[0]?.release();
    expect((await first.result).text).toBe('run 1');
    expect(runs).toHaveLength(1);
  });

  test('succeed for the others if the one that runs is cancelled', async () => {
    const { open, runs, running, arrived } = await build(revision);
    const client = await open('ada');
    const leaving = new AbortController();
    const first = call(client, { signal: leaving.signal });
    await running(1);
    const second = call(client);
    await arrived(2);
    leaving.abort();
    await expect(first.result).rejects.toMatchObject({ code: 'cancelled' });
    await running(2);
    runs[1]?.release();
    expect((await second.result).text).toBe('run 2');
  });

  test('fail together', async () => {
    const { open, runs, running, arrived } = await build(revision);
    const client = await open('ada');
    const args = { fails: true };
    const first = call(client, { args });
    await running(1);
    const second = call(client, { args });
    await arrived(2);
    runs[0]?.release();
    const [one, two] = await Promise.all([first.result, second.result]);
    expect([one.isError, two.isError]).toEqual([true, true]);
    expect(runs).toHaveLength(1);
  });

  test('run for each caller apart', async () => {
    const { open, runs, running } = await build(revision);
    const [ada, bob] = [await open('ada'), await open('bob')];
    const [first, second] = [call(ada), call(bob)];
    await running(2);
    runs[0]?.report(1, 2, 'secret');
    await Promise.race([first.reached(1), second.reached(1)]);
    for (const run of runs) run.release();
    await Promise.all([first.result, second.result]);
    expect([first.told.length + second.told.length, runs.length]).toEqual([1, 2]);
  });

  test('are asked one by one, each by its own call', async () => {
    const { open } = await build(revision);
    const client = await open('ada', 'Ada');
    const results = await Promise.all([client.callTool('asks'), client.callTool('asks')]);
    expect(results.map(({ text }) => text)).toEqual(['Hello, Ada', 'Hello, Ada']);
  });
});
