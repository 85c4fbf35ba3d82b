import { createServer, tool } from 'fullmcp';
import { testClient } from 'fullmcp/testing';
import { expect, it } from 'vitest';
import { z } from 'zod';

const schema = z.object({ sure: z.boolean() });

it.each([
  ['the message and the schema', ['Sure?', schema], ' This object is a schema itself.'],
  ['no message', ['sure', { schema }], ''],
  ['no schema', ['sure', { message: 'Sure?' }], ''],
])('ctx.ask that is called with %s says how it is called', async (_, args, more) => {
  const server = createServer({
    ...{ name: 'asking', version: '1.0.0', logger: () => undefined },
    tools: {
      go: tool({ run: (_input, { ask }) => (ask as (...all: unknown[]) => Promise<string>)(...args) }),
    },
  });
  const client = await testClient(server, { elicit: () => ({ action: 'accept', content: {} }) });
  const { cause } = await client.callTool('go');
  expect(cause).toMatchObject({
    message: `A question that shows a form needs a key, and an object with "message" and "schema": ctx.ask("size", { message: "Which size?", schema }).${more}`,
  });
  await client.close();
});
