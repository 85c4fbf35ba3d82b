// #region server
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';

const orders = new Map([[1, { id: 1, item: 'kiwi' }]]);

/** A new server for each client: an `McpServer` serves one transport. */
export function createShop() {
  const server = new McpServer({ name: 'shop', version: '1.0.0' }, { capabilities: { logging: {} } });
  addTools(server);
  addQuestions(server);
  addResources(server);
  return server;
}
// #endregion

/** @param {McpServer} server */
function addTools(server) {
  // #region tool
  server.registerTool(
    'add',
    { description: 'Add two numbers', inputSchema: { a: z.number(), b: z.number() } },
    ({ a, b }) => ({ content: [{ type: 'text', text: String(a + b) }] }),
  );
  // #endregion

  // #region errors
  server.registerTool(
    'find_order',
    {
      description: 'Find an order',
      inputSchema: { id: z.number() },
      outputSchema: { id: z.number(), item: z.string() },
    },
    ({ id }) => {
      const order = orders.get(id);
      if (order === undefined) {
        return { content: [{ type: 'text', text: `Order ${id} does not exist.` }], isError: true };
      }
      return { content: [{ type: 'text', text: JSON.stringify(order) }], structuredContent: order };
    },
  );
  // #endregion

  // #region progress
  server.registerTool(
    'import_orders',
    { description: 'Import orders', inputSchema: { count: z.number() } },
    async ({ count }, extra) => {
      const progressToken = extra._meta?.progressToken;
      for (let done = 1; done <= count; done++) {
        if (progressToken !== undefined) {
          const params = { progressToken, progress: done, total: count };
          await extra.sendNotification({ method: 'notifications/progress', params });
        }
      }
      await server.sendLoggingMessage({ level: 'info', data: `${count} orders` }, extra.sessionId);
      return { content: [{ type: 'text', text: `Imported ${count} orders` }] };
    },
  );
  // #endregion

  // #region caller
  server.registerTool('who_am_i', { description: 'Tell who is calling' }, (extra) => ({
    content: [{ type: 'text', text: extra.authInfo?.clientId ?? 'nobody' }],
  }));
  // #endregion
}

/** @param {McpServer} server */
function addQuestions(server) {
  // #region elicitation
  server.registerTool('book', { description: 'Book seats' }, async () => {
    const answer = await server.server.elicitInput({
      message: 'How many seats?',
      requestedSchema: { type: 'object', properties: { seats: { type: 'integer' } }, required: ['seats'] },
    });
    const text = answer.action === 'accept' ? `Booked ${answer.content?.seats} seats` : 'Not booked';
    return { content: [{ type: 'text', text }] };
  });
  // #endregion

  // #region sampling
  server.registerTool(
    'summarize',
    { description: 'Summarize an article', inputSchema: { text: z.string() } },
    async ({ text }) => {
      const { content } = await server.server.createMessage({
        messages: [{ role: 'user', content: { type: 'text', text: `In one sentence: ${text}` } }],
        maxTokens: 100,
      });
      return { content: [{ type: 'text', text: content.type === 'text' ? content.text : '' }] };
    },
  );
  // #endregion
}

/** @param {McpServer} server */
function addResources(server) {
  // #region resources
  server.registerResource('config', 'config://app', { mimeType: 'application/json' }, (uri) => ({
    contents: [{ uri: uri.href, mimeType: 'application/json', text: JSON.stringify({ debug: true }) }],
  }));
  server.registerResource(
    'order',
    new ResourceTemplate('orders://{id}', { list: undefined }),
    { mimeType: 'application/json' },
    (uri, { id }) => ({
      contents: [
        { uri: uri.href, mimeType: 'application/json', text: JSON.stringify(orders.get(Number(id))) },
      ],
    }),
  );
  // #endregion

  // #region prompt
  server.registerPrompt(
    'review',
    { description: 'Review code', argsSchema: { code: z.string() } },
    ({ code }) => ({
      messages: [{ role: 'user', content: { type: 'text', text: `Review this:\n${code}` } }],
    }),
  );
  // #endregion
}
