// #region server
import { FastMCP, UserError } from 'fastmcp';
import { z } from 'zod';

const orders = new Map([[1, { id: 1, item: 'kiwi' }]]);
const users = new Map([['secret-of-ada', 'ada']]);

export const server = new FastMCP({ name: 'shop', version: '1.0.0', authenticate });
// #endregion

// #region tool
server.addTool({
  name: 'add',
  description: 'Add two numbers',
  parameters: z.object({ a: z.number(), b: z.number() }),
  execute: async ({ a, b }) => String(a + b),
});
// #endregion

// #region errors
server.addTool({
  name: 'find_order',
  description: 'Find an order',
  parameters: z.object({ id: z.number() }),
  outputSchema: z.object({ id: z.number(), item: z.string() }),
  execute: async ({ id }) => {
    const order = orders.get(id);
    if (order === undefined) throw new UserError(`Order ${id} does not exist.`);
    return { content: [{ type: 'text', text: JSON.stringify(order) }], structuredContent: order };
  },
});
// #endregion

// #region progress
server.addTool({
  name: 'import_orders',
  description: 'Import orders',
  parameters: z.object({ count: z.number() }),
  execute: async ({ count }, { log, reportProgress }) => {
    for (let done = 1; done <= count; done++) await reportProgress({ progress: done, total: count });
    log.info(`${count} orders`);
    return `Imported ${count} orders`;
  },
});
// #endregion

// #region elicitation
server.addTool({
  name: 'book',
  description: 'Book seats',
  execute: async (_args, { elicit }) => {
    const answer = await elicit({
      message: 'How many seats?',
      requestedSchema: { type: 'object', properties: { seats: { type: 'integer' } }, required: ['seats'] },
    });
    return answer.action === 'accept' ? `Booked ${answer.content?.seats} seats` : 'Not booked';
  },
});
// #endregion

// #region sampling
// The only client, on stdio. `server.sessions` is still empty in its first calls.
const connected = new Promise((resolve) => {
  server.on('connect', ({ session }) => resolve(session));
});

server.addTool({
  name: 'summarize',
  description: 'Summarize an article',
  parameters: z.object({ text: z.string() }),
  execute: async ({ text }) => {
    const session = await connected;
    const { content } = await session.requestSampling({
      messages: [{ role: 'user', content: { type: 'text', text: `In one sentence: ${text}` } }],
      maxTokens: 100,
    });
    return content.type === 'text' ? content.text : '';
  },
});
// #endregion

// #region resources
server.addResource({
  uri: 'config://app',
  name: 'config',
  mimeType: 'application/json',
  load: async () => ({ text: JSON.stringify({ debug: true }) }),
});
server.addResourceTemplate({
  uriTemplate: 'orders://{id}',
  name: 'order',
  mimeType: 'application/json',
  arguments: [{ name: 'id', required: true }],
  load: async ({ id }) => ({ text: JSON.stringify(orders.get(Number(id))) }),
});
// #endregion

// #region prompt
server.addPrompt({
  name: 'review',
  description: 'Review code',
  arguments: [{ name: 'code', required: true }],
  load: async ({ code }) => `Review this:\n${code}`,
});
// #endregion

// #region caller
server.addTool({
  name: 'who_am_i',
  description: 'Tell who is calling',
  execute: async (_args, { session }) => session?.id ?? 'nobody',
});

/** @param {import('node:http').IncomingMessage | undefined} request Undefined on stdio. */
async function authenticate(request) {
  if (request === undefined) return undefined;
  const id = users.get(request.headers.authorization?.replace(/^Bearer /, '') ?? '');
  if (id === undefined) throw new Response(null, { status: 401 });
  return { id };
}
// #endregion
