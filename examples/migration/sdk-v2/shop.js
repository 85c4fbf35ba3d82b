// #region server
import { acceptedContent, inputRequired, McpServer, ResourceTemplate } from '@modelcontextprotocol/server';
import { z } from 'zod';

const orders = new Map([[1, { id: 1, item: 'kiwi' }]]);

/** A new server for each HTTP request, and for each connection on stdio. */
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
    { description: 'Add two numbers', inputSchema: z.object({ a: z.number(), b: z.number() }) },
    ({ a, b }) => ({ content: [{ type: 'text', text: String(a + b) }] }),
  );
  // #endregion

  // #region errors
  server.registerTool(
    'find_order',
    {
      description: 'Find an order',
      inputSchema: z.object({ id: z.number() }),
      outputSchema: z.object({ id: z.number(), item: z.string() }),
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
    { description: 'Import orders', inputSchema: z.object({ count: z.number() }) },
    async ({ count }, { mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken;
      for (let done = 1; done <= count; done++) {
        if (progressToken !== undefined) {
          const params = { progressToken, progress: done, total: count };
          await mcpReq.notify({ method: 'notifications/progress', params });
        }
      }
      await mcpReq.log('info', `${count} orders`);
      return { content: [{ type: 'text', text: `Imported ${count} orders` }] };
    },
  );
  // #endregion

  // #region caller
  server.registerTool('who_am_i', { description: 'Tell who is calling' }, (ctx) => ({
    content: [{ type: 'text', text: ctx.http?.authInfo?.clientId ?? 'nobody' }],
  }));
  // #endregion
}

/** @param {McpServer} server */
function addQuestions(server) {
  // #region elicitation
  const booking = z.object({ seats: z.int() });
  server.registerTool('book', { description: 'Book seats' }, ({ mcpReq }) => {
    if (mcpReq.inputResponses?.seats === undefined) {
      const seats = inputRequired.elicit({ message: 'How many seats?', requestedSchema: booking });
      return inputRequired({ inputRequests: { seats } });
    }
    const answer = acceptedContent(mcpReq.inputResponses, 'seats', booking);
    const text = answer === undefined ? 'Not booked' : `Booked ${answer.seats} seats`;
    return { content: [{ type: 'text', text }] };
  });
  // #endregion

  // #region sampling
  server.registerTool(
    'summarize',
    { description: 'Summarize an article', inputSchema: z.object({ text: z.string() }) },
    ({ text }, { mcpReq }) => {
      const answer = mcpReq.inputResponses?.summary;
      if (answer === undefined) {
        const summary = inputRequired.createMessage({
          messages: [{ role: 'user', content: { type: 'text', text: `In one sentence: ${text}` } }],
          maxTokens: 100,
        });
        return inputRequired({ inputRequests: { summary } });
      }
      return { content: [{ type: 'text', text: answer.content.text }] };
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
    { description: 'Review code', argsSchema: z.object({ code: z.string() }) },
    ({ code }) => ({
      messages: [{ role: 'user', content: { type: 'text', text: `Review this:\n${code}` } }],
    }),
  );
  // #endregion
}
