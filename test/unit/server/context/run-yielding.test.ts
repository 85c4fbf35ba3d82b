import { createServer, image, inProcess, ToolError, text, tool } from 'fullmcp';
import { everyWire, testClient } from 'fullmcp/testing';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { able, waitForStatus } from '../../../support/tasks.js';
import { soon, until } from '../../../support/until.js';

const base = { name: 'test', version: '1.0.0', secret: 'x'.repeat(32), logger: () => undefined };
const png = image(new Uint8Array([1]), 'image/png');
const form = { message: 'Sure?', schema: z.object({ sure: z.boolean() }) };

/** Calls a tool in-process and collects its progress. */
async function call(server: Parameters<typeof inProcess>[0], name: string, signal?: AbortSignal) {
  const progress: unknown[] = [];
  const result = inProcess(server)(
    'tools/call',
    { name, arguments: {}, _meta: { progressToken: 1 } },
    {
      ...(signal && { signal }),
      onNotification: (_, params) => void progress.push([params?.['progress'], params?.['message']]),
    },
  );
  return { progress, result: await result };
}

function yielding(run: (ctx: { signal: AbortSignal }) => unknown, more: object = {}) {
  return createServer({ ...base, tools: { t: tool({ run: (_, ctx) => run(ctx) as string, ...more }) } });
}

describe('a tool that yields', () => {
  it('reports each chunk as progress, and gives all of them as its result, with strings that follow each other as one text', async () => {
    const server = yielding(async function* () {
      yield 'Once ';
      yield 'upon';
      yield png;
      yield text('The end');
      yield '.';
    });
    const { progress, result } = await call(server, 't');
    expect(progress).toEqual([
      [1, 'Once '],
      [2, 'upon'],
      [3, undefined],
      [4, 'The end'],
      [5, '.'],
    ]);
    const texts = [text('Once upon'), png, text('The end'), text('.')];
    expect(result).toMatchObject({ content: texts, resultType: 'complete' });
  });

  it('gives the value that it returns instead, checked by its output schema', async () => {
    const server = createServer({
      ...base,
      tools: {
        count: tool({
          output: z.object({ files: z.number() }),
          async *run() {
            yield 'a.txt';
            return { files: 1 };
          },
        }),
        wrong: tool({
          output: z.object({ files: z.number() }),
          async *run() {
            yield 'a.txt';
            return { files: 'one' };
          },
        }),
        nothing: tool({ async *run() {} }),
      },
    });
    expect((await call(server, 'count')).result).toMatchObject({ structuredContent: { files: 1 } });
    expect((await call(server, 'wrong')).result).toMatchObject({ isError: true });
    expect((await call(server, 'nothing')).result).toMatchObject({ content: [] });
  });

  it('works for clients of every revision, over every wire', async () => {
    const server = createServer({
      ...base,
      tools: {
        t: tool({
          input: z.object({ n: z.number() }),
          async *run({ n }) {
            for (let at = 1; at <= n; at++) yield `${at};`;
          },
        }),
      },
    });
    await everyWire(server, async (client) => {
      const seen: unknown[] = [];
      const onProgress = ({ message }: { message?: string }): void => void seen.push(message);
      const { content } = await client.callTool('t', { n: 3 }, { onProgress });
      expect(content).toEqual([text('1;2;3;')]);
      expect(seen).toEqual(['1;', '2;', '3;']);
    });
  });

  it('may be loaded with its first call, and may be an async function that returns a generator', async () => {
    async function* run() {
      yield 'loaded';
    }
    const load = async () => ({ run: run as unknown as () => string });
    const server = createServer({
      ...base,
      tools: { t: tool({ load }), u: tool({ run: async () => run() }) },
    });
    for (const name of ['t', 'u'])
      expect((await call(server, name)).result).toMatchObject({ content: [text('loaded')] });
  });

  it('fails as any other tool does if it throws after some chunks', async () => {
    const server = yielding(async function* () {
      yield 'half';
      throw new ToolError('The disk is full.');
    });
    const { progress, result } = await call(server, 't');
    expect(progress).toEqual([[1, 'half']]);
    expect(result).toMatchObject({ isError: true, content: [text('The disk is full.')] });
  });

  it.each([[{ done: 1 }], [7], [undefined], [{ type: 'image' }], [['a']]])(
    'fails if it yields %o, which is not content, and is closed',
    async (chunk) => {
      const log = vi.fn();
      const closed = vi.fn();
      const run = async function* () {
        try {
          yield chunk;
        } finally {
          closed();
        }
      };
      const server = createServer({
        ...base,
        logger: log,
        tools: { t: tool({ run: run as () => unknown }) },
      });
      expect((await call(server, 't')).result).toMatchObject({ isError: true });
      expect(String(log.mock.calls[0]?.[2])).toContain('must be a string or a content block');
      expect(closed).toHaveBeenCalledOnce();
    },
  );

  it('is closed when the client cancels, even while it waits', async () => {
    const closing = vi.fn();
    const stuck = { next: vi.fn(() => new Promise<never>(() => undefined)), return: closing };
    const server = yielding(() => ({ ...stuck, [Symbol.asyncIterator]: () => stuck }));
    const ending = new AbortController();
    const calling = call(server, 't', ending.signal);
    await until('the tool waits', () => stuck.next.mock.calls.length === 1);
    ending.abort();
    await expect(soon('the end', calling)).rejects.toMatchObject({ code: 'cancelled' });
    await until('the generator is closed', () => closing.mock.calls.length === 1);
  });

  it('runs its finally block when it times out', async () => {
    let isClosed = false;
    const server = yielding(
      async function* ({ signal }) {
        try {
          for (;;) {
            yield 'tick';
            await new Promise((resolve) => setTimeout(resolve, 5));
          }
        } finally {
          isClosed = signal.aborted;
        }
      },
      { timeoutMs: 50 },
    );
    expect((await call(server, 't')).result).toMatchObject({
      isError: true,
      content: [text('t took longer than 50 ms and was stopped')],
    });
    await until('the generator is closed', () => isClosed);
  });

  it('may ask: the chunks before the question are reported once, though the handler runs twice', async () => {
    let runs = 0;
    const server = createServer({
      ...base,
      tools: {
        t: tool({
          async *run(_, ctx) {
            runs++;
            yield 'before ';
            const { sure } = await ctx.ask('sure', form);
            yield sure ? 'yes' : 'no';
          },
        }),
      },
    });
    for (const revision of ['2026-07-28', '2025-11-25'] as const) {
      runs = 0;
      const seen: unknown[] = [];
      await using client = await testClient(server, {
        ...(revision === '2025-11-25' && { over: 'http' as const, revision }),
        answers: { sure: { sure: true } },
      });
      const { content } = await client.callTool(
        't',
        {},
        { onProgress: ({ message }) => void seen.push(message) },
      );
      expect(content).toEqual([text('before yes')]);
      expect(seen).toEqual(['before ', 'yes']);
      expect(runs).toBe(2);
    }
  });

  it('reports its chunks as the status of a task, and gives its result to the task', async () => {
    const gate = new AbortController();
    const server = createServer({
      ...base,
      tools: {
        t: tool({
          task: 'required',
          async *run() {
            yield 'Working. ';
            await new Promise((resolve) => gate.signal.addEventListener('abort', resolve));
            yield 'Done.';
          },
        }),
      },
    });
    const inside = inProcess(server, able);
    const { taskId } = await inside('tools/call', { name: 't', arguments: {} });
    await until('the task reports its first chunk', async () => {
      const { statusMessage } = await inside('tasks/get', { taskId });
      return statusMessage === 'Working.  (1)';
    });
    gate.abort();
    const task = await waitForStatus(inside, taskId, 'completed');
    expect(JSON.stringify(task)).toContain('Working. Done.');
    await server.close();
  });

  it('is closed when its task is cancelled', async () => {
    let isClosed = false;
    const server = createServer({
      ...base,
      tools: {
        t: tool({
          task: 'required',
          async *run(_, { signal }) {
            try {
              for (;;) {
                yield 'tick';
                await new Promise((resolve) => setTimeout(resolve, 5));
              }
            } finally {
              isClosed = signal.aborted;
            }
          },
        }),
      },
    });
    const inside = inProcess(server, able);
    const { taskId } = await inside('tools/call', { name: 't', arguments: {} });
    await inside('tasks/cancel', { taskId });
    await until('the generator is closed', () => isClosed);
    await server.close();
  });

  it('keeps at most 16 MB, and must return a result if it yields more', async () => {
    const log = vi.fn();
    const large = 'x'.repeat(1_000_000);
    const run = async function* () {
      for (let at = 0; at < 17; at++) yield large;
      return undefined as string | undefined;
    };
    const server = createServer({
      ...base,
      logger: log,
      tools: {
        t: tool({ run }),
        u: tool({
          async *run() {
            yield* run();
            return 'short';
          },
        }),
      },
    });
    const { progress, result } = await call(server, 't');
    expect(result).toMatchObject({ isError: true });
    expect(String(log.mock.calls[0]?.[2])).toContain('too much for one result. Return a shorter result.');
    expect((progress[0] as [number, string])[1]).toHaveLength(4096);
    expect((await call(server, 'u')).result).toMatchObject({ content: [text('short')] });
  });
});
