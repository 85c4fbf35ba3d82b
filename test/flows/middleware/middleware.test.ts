import { createServer, McpError, prompt, resource, tool } from 'fullmcp';
import type { CallLog } from 'fullmcp/middleware';
import { everyWire, testClient } from 'fullmcp/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { soon, until } from '../../support/until.js';
import { allMiddleware } from './all.js';

// A server and a client with every middleware on: everything works as without it, over every transport and in every revision.

const LONG = 'One line of a report.\n'.repeat(5000);

function build() {
  const entries: CallLog[] = [];
  const hanging = { started: 0, aborted: 0 };
  const server = createServer({
    name: 'everything',
    version: '1.0.0',
    secret: 'x'.repeat(32),
    changes: ['resource'],
    use: allMiddleware(entries),
    tools: {
      add: tool({ input: z.object({ a: z.number(), b: z.number() }), run: ({ a, b }) => ({ sum: a + b }) }),
      long: tool({ run: () => LONG }),
      progress: tool({
        run: async (_, ctx) => {
          for (let n = 1; n <= 3; n++) ctx.progress(n, 3);
          return 'done';
        },
      }),
      ask: tool({
        run: async (_, ctx) => {
          const answer = await ctx.elicit('name', {
            message: 'Your name?',
            schema: z.object({ name: z.string() }),
          });
          return answer.action === 'accept' ? `Hello ${answer.content.name}` : answer.action;
        },
      }),
      hang: tool({
        run: (_, ctx) => {
          hanging.started++;
          return new Promise((resolve) =>
            ctx.signal.addEventListener('abort', () => {
              hanging.aborted++;
              resolve('aborted');
            }),
          );
        },
      }),
      fail: tool({
        run: () => {
          throw new McpError('invalid_params', 'There is no order 7.');
        },
      }),
      heat: tool({ run: (_, { changed }) => changed.resource('room://temperature') }),
    },
    resources: { 'room://temperature': resource({ read: () => '20' }) },
    prompts: { hello: prompt({ run: () => 'Say hello' }) },
  });
  return Object.assign(server, { entries, hanging });
}

const options = {
  use: allMiddleware(),
  elicit: async () => ({ action: 'accept' as const, content: { name: 'Ada' } }),
};

describe('with every middleware on both ends', () => {
  test('tools, questions, prompts, reads, errors and large results work over every wire', {
    timeout: 120_000,
  }, async () => {
    await everyWire(
      build,
      async (client) => {
        expect((await client.callTool('add', { a: 1, b: 2 })).data).toEqual({ sum: 3 });
        expect((await client.callTool('ask')).text).toBe('Hello Ada');
        expect((await client.callTool('progress')).text).toBe('done');
        expect((await client.readResource('room://temperature')).text).toBe('20');
        expect((await client.getPrompt('hello')).messages).toHaveLength(1);
        await expect(client.callTool('fail')).rejects.toThrow('There is no order 7.');
        expect(await client.tools().all()).toHaveLength(7);
        const { text } = await client.callTool('long');
        const uri = /output:\/\/[0-9a-f]+\/\d+/.exec(text)?.[0];
        expect(text.length).toBeLessThan(3000);
        let whole = '';
        for (let isMore = true; isMore; ) {
          const { contents } = await client.readResource(`${uri}?offset=${whole.length}`);
          whole += (contents[0] as { text: string }).text;
          isMore = contents.length > 1;
        }
        expect(whole).toBe(LONG);
      },
      options,
    );
  });

  test.each([
    ['in-process', '2026-07-28'],
    ['http', '2026-07-28'],
    ['http', '2025-11-25'],
  ] as const)(
    'progress, cancellation and subscriptions work over %s %s, and each call is logged once',
    async (over, revision) => {
      const server = build();
      onTestFinished(() => server.close());
      await using client = await testClient(server, { ...options, over, revision });
      const progress: number[] = [];
      await client.callTool('progress', {}, { onProgress: ({ progress: done }) => void progress.push(done) });
      expect(progress).toEqual([1, 2, 3]);

      await using changes = await client.subscribe('room://temperature');
      const [first] = await Promise.all([
        soon('the notification of the change', changes[Symbol.asyncIterator]().next()),
        client.callTool('heat'),
      ]);
      expect(first.done).toBe(false);

      const controller = new AbortController();
      const hanging = client
        .callTool('hang', {}, { signal: controller.signal })
        .catch((error: McpError) => error.code);
      await until('the tool runs', () => server.hanging.started === 1);
      controller.abort();
      expect(await hanging).toBe('cancelled');
      await until('the handler is told', () => server.hanging.aborted === 1);
      await until('the cancelled call is logged', () =>
        server.entries.some(({ target }) => target === 'hang'),
      );
      const logged = server.entries
        .filter(({ method }) => method === 'tools/call')
        .map(({ target, end }) => `${target} ${end}`);
      expect(logged.slice(0, -1)).toEqual(['progress ok', 'heat ok']);
      // A client cancels a call over HTTP by closing its stream.
      expect(logged.at(-1)).toMatch(/^hang (cancelled|connection_closed)$/);
      expect(server.entries.every(({ ms }) => ms >= 0)).toBe(true);
    },
  );
});
