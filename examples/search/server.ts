import { createServer, tool } from 'fullmcp';
import { z } from 'zod';

const invoice = z.object({ customer: z.string(), amount: z.number() });

const tools = {
  help: tool({ description: 'How to use this server', run: () => 'Search for a tool, then call it.' }),
  create_invoice: tool({
    title: 'Bill a customer',
    description: 'Writes an invoice and sends it',
    tags: ['billing'],
    input: invoice,
    run: ({ customer, amount }) => `Billed ${customer} for ${amount}`,
  }),
  get_forecast: tool({
    description: 'The weather of the next days',
    input: z.object({ city: z.string() }),
    run: ({ city }) => `${city}: sunny`,
  }),
  delete_invoice: tool({
    description: 'Deletes an invoice',
    scopes: ['billing:admin'],
    input: z.object({ id: z.int() }),
    run: ({ id }) => `Deleted ${id}`,
  }),
};

// #region search
export const server = createServer({
  name: 'office',
  version: '1.0.0',
  tools,
  // Clients list search_tools, call_tool and help.
  search: { always: ['help'] },
});
// #endregion

// #region rank
export const ranked = createServer({
  name: 'office',
  version: '1.0.0',
  tools,
  search: {
    limit: 3,
    async rank({ query, tools: visible, found }) {
      const wanted = await embed(query);
      const near = await Promise.all(
        visible.map(async ({ name, description = '' }) => ({
          name,
          distance: distance(wanted, await embed(`${name} ${description}`)),
        })),
      );
      near.sort((a, b) => a.distance - b.distance);
      // The tools with the same words first, then those with a similar meaning.
      return [...found.slice(0, 1), ...near.map(({ name }) => name)];
    },
  },
});
// #endregion

const known = new Map<string, Promise<readonly number[]>>();

/** Stands for a service that makes embeddings: counts letters. Each text is embedded once. */
function embed(text: string): Promise<readonly number[]> {
  const letters = [...'abcdefghijklmnopqrstuvwxyz'];
  const vector =
    known.get(text) ?? Promise.resolve(letters.map((letter) => text.toLowerCase().split(letter).length - 1));
  known.set(text, vector);
  return vector;
}

function distance(a: readonly number[], b: readonly number[]): number {
  return Math.hypot(...a.map((value, at) => value - (b[at] ?? 0)));
}
