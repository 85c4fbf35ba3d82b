// #region imports
import { createServer, prompt, resource, ToolError, tool } from 'fullmcp';
import { z } from 'zod';

const orders = new Map([[1, { id: 1, item: 'kiwi' }]]);
// #endregion

// #region tool
const add = tool({
  description: 'Add two numbers',
  input: z.object({ a: z.number(), b: z.number() }),
  run: ({ a, b }) => a + b,
});
// #endregion

// #region errors
const findOrder = tool({
  description: 'Find an order',
  input: z.object({ id: z.number() }),
  output: z.object({ id: z.number(), item: z.string() }),
  run: ({ id }) => {
    const order = orders.get(id);
    if (order === undefined) throw new ToolError(`Order ${id} does not exist.`);
    return order;
  },
});
// #endregion

// #region progress
const importOrders = tool({
  description: 'Import orders',
  input: z.object({ count: z.number() }),
  run: ({ count }, { log, progress }) => {
    for (let done = 1; done <= count; done++) progress(done, count);
    log.info(`${count} orders`);
    return `Imported ${count} orders`;
  },
});
// #endregion

// #region elicitation
const book = tool({
  description: 'Book seats',
  run: async (_input, { elicit }) => {
    const booking = z.object({ seats: z.int() });
    const answer = await elicit('seats', { message: 'How many seats?', schema: booking });
    return answer.action === 'accept' ? `Booked ${answer.content.seats} seats` : 'Not booked';
  },
});
// #endregion

// #region sampling
const summarize = tool({
  description: 'Summarize an article',
  input: z.object({ text: z.string() }),
  run: async ({ text }, { sample }) => {
    const answer = await sample('summary', { messages: `In one sentence: ${text}`, maxTokens: 100 });
    return answer.text;
  },
});
// #endregion

// #region caller
const whoAmI = tool({
  description: 'Tell who is calling',
  run: (_input, { auth }) => auth?.subject ?? 'nobody',
});
// #endregion

// #region server
export const server = createServer({
  name: 'shop',
  version: '1.0.0',
  tools: { add, find_order: findOrder, import_orders: importOrders, book, summarize, who_am_i: whoAmI },
  // #region resources
  resources: {
    'config://app': resource({ name: 'config', read: () => ({ debug: true }) }),
    'orders://{id}': resource({ name: 'order', read: ({ id }) => orders.get(Number(id)) }),
  },
  // #endregion
  // #region prompt
  prompts: {
    review: prompt({
      description: 'Review code',
      args: z.object({ code: z.string() }),
      run: ({ code }) => `Review this:\n${code}`,
    }),
  },
  // #endregion
});
// #endregion
