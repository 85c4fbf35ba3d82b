import { createServer, McpError, prompt, tool } from 'fullmcp';
import { everyWire, testClient } from 'fullmcp/testing';
import { describe, expect, test } from 'vitest';

const writer = createServer({
  name: 'writer',
  version: '1',
  deprecations: 'ignore',
  logger: () => undefined,
  tools: {
    title: tool({
      run: async (_, ctx) => {
        const answer = ctx.sample('title', { messages: 'A title', maxTokens: 5 });
        return answer.then(
          ({ text }) => text,
          (error: unknown) => {
            if (McpError.is(error) && error.code === 'user_rejected') return `no: ${error.message}`;
            throw error;
          },
        );
      },
    }),
  },
  prompts: {
    titled: prompt({
      run: async (_, ctx) => (await ctx.sample('titled', { messages: 'A title', maxTokens: 5 })).text,
    }),
  },
});

async function failureOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => undefined,
    (error: McpError) => error.code,
  );
}

describe('a sample handler that returns decline', () => {
  test('tells the server of a session that the user said no, and ends a call of 2026-07-28 with user_rejected', async () => {
    const answers = { title: { action: 'decline' }, titled: { action: 'cancel' } };
    await everyWire(
      writer,
      async (client, { revision }) => {
        expect(await failureOf(client.getPrompt('titled'))).toBe('user_rejected');
        const call = client.callTool('title');
        if (revision === '2026-07-28') expect(await failureOf(call)).toBe('user_rejected');
        else expect((await call).text).toBe('no: User rejected sampling request');
      },
      { answers },
    );
  });

  test('is not a problem of the program, as an error of the handler is', async () => {
    const problems: unknown[] = [];
    await using client = await testClient(writer, {
      over: 'stdio',
      revision: '2025-11-25',
      sample: () => ({ action: 'decline' }),
    });
    client.on('problem', (problem) => problems.push(problem));
    expect((await client.callTool('title')).text).toBe('no: User rejected sampling request');
    expect(problems).toEqual([]);
  });
});

test('a sample handler that fails does not look like a user who said no', async () => {
  await using client = await testClient(writer, {
    over: 'stdio',
    revision: '2025-11-25',
    sample: () => Promise.reject(new Error('out of memory')),
  } as never);
  const result = await client.callTool('title');
  expect(result.isError).toBe(true);
  expect(result.text).toBe('The client could not answer: Internal error');
});
