import { createServer, ToolError, tool } from 'fullmcp';
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

// #region removed
const find = tool({ input: z.object({ q: z.string() }), run: ({ q }) => `Books about ${q}` });

/** `search` is `find` now. It is not listed any more, and hosts that still have it in their list get an answer. */
const removedSearch = tool({
  input: z.object({ query: z.string() }),
  run: ({ query }, ctx) => ctx.call('find', { q: query }),
});

/** Nothing does the work of this tool any more. */
const removedFax = tool({
  input: { type: 'object' }, // whatever the arguments were
  run: () => {
    throw new ToolError('Orders by fax have ended. Tell the user, and offer find.');
  },
});

export const library = createServer({
  name: 'library',
  version: '3.0.0',
  tools: {
    find,
    search: versions({ '1.0': removedSearch }, { current: 'none' }),
    order_by_fax: versions({ '1.0': removedFax }, { current: 'none' }),
  },
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
