import { createServer, tool } from 'fullmcp';
import { testClient } from 'fullmcp/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

// Handlers of a client that return something that is not an answer, in both eras.

const server = createServer({
  name: 'asking',
  version: '1.0.0',
  secret: 'x'.repeat(32),
  tools: {
    greet: tool({
      run: async (_, ctx) => {
        const { name } = await ctx.ask('who', {
          message: 'Who?',
          schema: z.object({ name: z.string().max(3) }),
        });
        return `Hello, ${name}`;
      },
    }),
  },
});

describe.each(['2026-07-28', '2025-11-25', '2025-06-18'] as const)('in %s', (revision) => {
  const open = (elicit: () => unknown) =>
    testClient(server, { over: 'http', revision, elicit: elicit as never });
  const failure = (client: Awaited<ReturnType<typeof open>>): Promise<string> =>
    client.callTool('greet').then(
      ({ text }) => text,
      (error: Error) => error.message,
    );

  test('an elicit handler that returns the fields alone learns that they must be inside `content`', async () => {
    await using client = await open(() => ({ name: 'Ann' }));
    const problems: string[] = [];
    client.on('problem', ({ message }) => problems.push(message));
    const sentence =
      'The `elicit` handler returned an object without `action`: `name` must be inside `content`. Return { action: "accept", content }, { action: "decline" } or { action: "cancel" }.';
    expect(await failure(client)).toContain(sentence);
    expect(problems).toEqual([sentence]);
  });

  test('an answer that never fits its form is not repeated to the server', async () => {
    await using client = await open(() => ({ action: 'accept', content: { name: 'a secret' } }));
    const text = await failure(client);
    if (revision === '2026-07-28') expect(text).toContain('does not fit');
    else expect(text).toBe('The client could not answer: Internal error');
  });
});
