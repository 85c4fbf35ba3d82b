import { createServer, type Server, tool } from 'fullmcp';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { connect } from '../../../src/client.js';
import { connectTo, type Row, rows } from '../../interop/support/connections.js';
import { type Replicas, startReplicas } from '../../support/http/replicas.js';

// Clients of sessions whose every request goes to the next of three processes.

let cluster: Replicas | undefined;

afterEach(async () => {
  await cluster?.close();
  cluster = undefined;
});

function build(): Server {
  return createServer({
    name: 'replicated',
    version: '1',
    logger: () => undefined,
    tools: {
      order: tool({
        async run(_, ctx) {
          await ctx.progress(1);
          const { name } = await ctx.ask('name', {
            message: 'Name?',
            schema: z.object({ name: z.string() }),
          });
          const { ok } = await ctx.ask('ok', { message: 'Sure?', schema: z.object({ ok: z.boolean() }) });
          return `${name}: ${ok}`;
        },
      }),
      echo: tool({ input: z.object({ text: z.string() }), run: ({ text }) => text }),
    },
  }) as Server;
}

const answers = { name: 'Ada', ok: true };

const sessions = rows.filter(({ over, modern }) => over === 'http' && !modern);

describe.each(sessions)('the official client $who', (row: Row) => {
  test('calls and answers questions, whichever process gets its requests', async () => {
    cluster = await startReplicas(build, { count: 3 });
    const connection = await connectTo(cluster.url, row, async ({ params }) => {
      const fields = Object.keys(
        (params as { requestedSchema: { properties: object } }).requestedSchema.properties,
      );
      return {
        action: 'accept',
        content: Object.fromEntries(fields.map((field) => [field, answers[field as keyof typeof answers]])),
      };
    });
    try {
      for (let at = 0; at < 5; at++) {
        const { content } = await connection.call('order', {}, { onprogress: () => undefined });
        expect(content).toEqual([{ type: 'text', text: 'Ada: true' }]);
        expect((await connection.call('echo', { text: `${at}` })).content[0]?.text).toBe(`${at}`);
      }
      expect(connection.errors).toEqual([]);
    } finally {
      await connection.close();
    }
  });
});

describe.each(['2025-11-25', '2025-06-18', '2025-03-26'] as const)('our client in %s', (revision) => {
  test('calls and answers questions, whichever process gets its requests', async () => {
    cluster = await startReplicas(build, { count: 3 });
    const client = await connect(cluster.url, {
      revision,
      elicit: async () => ({ action: 'accept', content: answers }),
    });
    for (let at = 0; at < 5; at++) {
      if (revision !== '2025-03-26')
        expect((await client.callTool('order', {}, { onProgress: () => undefined })).text).toBe('Ada: true');
      expect((await client.callTool('echo', { text: `${at}` })).text).toBe(`${at}`);
    }
    await client.close();
  });
});
