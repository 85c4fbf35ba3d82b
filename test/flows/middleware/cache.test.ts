import { createServer, prompt, resource, tool } from 'fullmcp';
import { cache } from 'fullmcp/middleware';
import { everyWire, testClient, wires } from 'fullmcp/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { soon } from '../../support/until.js';

// A server that keeps results, over every transport and in every revision.

function build() {
  let runs = 0;
  const server = createServer({
    name: 'cached',
    version: '1.0.0',
    secret: 'x'.repeat(32),
    changes: ['resource'],
    use: [cache({ ttlMs: 60_000, tools: 'readOnly' })],
    tools: {
      number: tool({ annotations: { readOnly: true }, run: () => ++runs }),
      object: tool({
        annotations: { readOnly: true },
        output: z.object({ runs: z.number() }),
        run: () => ({ runs: ++runs }),
      }),
      heat: tool({ run: (_, { changed }) => changed.resource('room://temperature') }),
    },
    resources: {
      'room://temperature': resource({ read: () => `${++runs}` }),
      'room://public': resource({ cacheScope: 'public', ttlMs: 60_000, read: () => `${++runs}` }),
    },
    prompts: { hello: prompt({ run: () => `${++runs}` }) },
  });
  onTestFinished(() => server.close());
  return server;
}

describe('a server with a cache', () => {
  test('answers again with the same result over every wire, until the resource changes', {
    timeout: 120_000,
  }, async () => {
    await everyWire(
      build,
      async (client) => {
        const numbers = [await client.callTool('number'), await client.callTool('number')];
        expect(numbers.map(({ data, text }) => [data, text])).toEqual([
          [1, '1'],
          [1, '1'],
        ]);
        expect((await client.callTool('object')).data).toEqual({ runs: 2 });
        expect((await client.callTool('object')).data).toEqual({ runs: 2 });
        const read = async () => (await client.readResource('room://temperature')).text;
        expect([await read(), await read()]).toEqual(['3', '3']);
        const prompts = [await client.getPrompt('hello'), await client.getPrompt('hello')];
        expect(prompts[1]?.messages).toEqual(prompts[0]?.messages);
        await using changes = await client.subscribe('room://temperature');
        const first = changes[Symbol.asyncIterator]().next();
        await client.callTool('heat');
        await soon('the notification of the change', first);
        // The server has read it once for the subscriber, too, who is told only of resources that it can read.
        const later = await read();
        expect(Number(later)).toBeGreaterThan(4);
        expect(await read()).toBe(later);
        expect(await client.tools().all()).toHaveLength(3);
      },
      { cache: false, caller: { subject: 'ada' } },
    );
  });

  test.each(wires.filter(({ over }) => over !== 'in-process' && over !== 'stdio'))(
    'keeps the private results of anonymous clients apart over $over $revision',
    async ({ over, revision }) => {
      const server = build();
      const open = async () => {
        const client = await testClient(server, { over, revision, cache: false });
        onTestFinished(() => client.close());
        return client;
      };
      const [one, other] = [await open(), await open()];
      const mine = (await one.readResource('room://temperature')).text;
      expect((await other.readResource('room://temperature')).text).not.toBe(mine);
      expect((await one.readResource('room://public')).text).toBe(
        (await other.readResource('room://public')).text,
      );
    },
  );
});
