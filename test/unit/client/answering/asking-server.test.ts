import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { connect } from '../../../../src/client.js';
import { createServer, tool } from '../../../../src/index.js';
import { testClient } from '../../../../src/testing.js';

const bank = createServer({
  name: 'bank',
  title: 'The Bank',
  version: '1',
  secret: 'a secret that is long enough for a test',
  tools: {
    ask: tool({
      run: async (_, ctx) =>
        (await ctx.elicit('q', { message: 'Q?', schema: z.object({ a: z.string() }) })).action,
    }),
  },
});

describe('a handler of the client', () => {
  test.each(['2026-07-28', '2025-11-25'] as const)(
    'receives the title of the asking server in %s',
    async (revision) => {
      let server = '';
      await using client = await testClient(bank, {
        over: 'http',
        revision,
        elicit: (_, details) => {
          ({ server } = details);
          return { action: 'decline' };
        },
      });
      await client.callTool('ask');
      expect(server).toBe('The Bank');
    },
  );

  test('receives the title of the asking server in a group', async () => {
    const askers: string[] = [];
    await using group = await connect(
      { mcpServers: { one: { target: bank } } },
      {
        elicit: (_, { server }) => {
          askers.push(server);
          return { action: 'cancel' };
        },
      },
    );
    await group.callTool('one_ask');
    expect(askers).toEqual(['The Bank']);
  });
});
