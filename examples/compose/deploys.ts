import { createServer, tool } from 'fullmcp';
import { versions } from 'fullmcp/transform';
import { z } from 'zod';

// #region adapter
const search = tool({
  input: z.object({ terms: z.array(z.string()) }),
  run: ({ terms }) => `Books with ${terms.join(' and ')}`,
});

/** The version that hosts still know: it answers through the current one, so that its own code is gone. */
const searchBefore = tool({
  input: z.object({ query: z.string() }),
  run: ({ query }, ctx) => ctx.call('search', { terms: query.split(' ') }),
});

export const shop = createServer({
  name: 'shop',
  version: '2.0.0',
  tools: { search: versions({ '1.0': searchBefore, '2.0': search }) },
});
// #endregion

// #region migrate
const order = tool({
  input: z.object({ book: z.string() }),
  task: {
    support: 'required',
    migrate: {
      from: '1.0',
      // Version 1.0 had the step "charge". Here it is "pay", and its result has a field for the currency.
      journal: ({ args, answers, steps: { charge, ...steps } }) => ({
        args,
        answers,
        steps: charge === undefined ? steps : { ...steps, pay: { id: charge, currency: 'EUR' } },
      }),
    },
  },
  async run({ book }, ctx) {
    const { id } = await ctx.step('pay', () => ({ id: `invoice for ${book}`, currency: 'EUR' }));
    const { address } = await ctx.ask('address', {
      message: 'Where shall we send it?',
      schema: z.object({ address: z.string() }),
    });
    return `${id}, sent to ${address}`;
  },
});

export const orders = { order: versions({ '2.0': order }) };
// #endregion
