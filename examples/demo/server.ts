import { setTimeout } from 'node:timers/promises';
import { createServer, image, prompt, resource, ToolError, text, tool, user } from 'fullmcp';
import { z } from 'zod';
import { createNotes } from './notes.js';
import { placeOrder } from './orders.js';
import { square } from './png.js';

const topics = ['bridges', 'bread', 'black holes', 'beavers', 'clouds', 'coral'];

const readme = `This is the demo of fullmcp.

Add a note with the tool add_note, then read notes://all. Clients that have subscribed to it are notified.
Start countdown and cancel it halfway. Ask find_order for an order that does not exist.
Call order_pizza: it asks you twice. Call bake_bread: with a client that supports tasks, it runs in the background.`;

const notes = createNotes();
let ovens = 0;

export default createServer({
  name: 'demo',
  version: '1.0.0',
  title: 'The fullmcp demo',
  instructions: 'A little of everything. Read demo://readme first.',
  changes: ['resources', 'resource'],

  tools: {
    add: tool({
      description: 'Add two numbers',
      // Forms begin with the examples.
      input: z.object({ a: z.number().meta({ examples: [2] }), b: z.number().meta({ examples: [40] }) }),
      annotations: { readOnly: true },
      run: ({ a, b }) => a + b,
    }),

    // #region countdown
    countdown: tool({
      description: 'Count down. Shows progress, and can be cancelled.',
      input: z.object({ from: z.int().min(1).max(60).default(5), stepMs: z.int().min(1).default(1000) }),
      run: async ({ from, stepMs }, { progress, signal }) => {
        for (let done = 0; done < from; done++) {
          progress(done, from, `${from - done} to go`);
          await setTimeout(stepMs, undefined, { signal });
        }
        return 'Lift-off';
      },
    }),
    // #endregion

    // #region order_pizza
    order_pizza: tool({
      description: 'Order a pizza. Asks the user which one, and then for confirmation.',
      run: async (_input, ctx) => {
        const pizza = await ctx.ask('pizza', {
          message: 'What would you like?',
          schema: z.object({
            size: z.enum(['small', 'large']).default('small'),
            toppings: z.array(z.enum(['olives', 'mushrooms', 'ham'])).max(2),
          }),
        });
        // Runs once, however often this handler runs: see docs/asking.md.
        const oven = await ctx.step('reserve', () => ++ovens);
        const { sure } = await ctx.ask('sure', {
          message: `A ${pizza.size} one with ${pizza.toppings.join(' and ') || 'nothing'}, in oven ${oven}. Right?`,
          schema: z.object({ sure: z.boolean() }),
        });
        return sure ? `In oven ${oven}, ready in ten minutes` : 'Not ordered';
      },
    }),
    // #endregion

    // #region bake_bread
    bake_bread: tool({
      description: 'Bake a loaf of bread. Takes a while, and asks the user halfway. Can run as a task.',
      input: z.object({ stepMs: z.int().min(1).default(1000) }),
      task: { support: 'optional', pollIntervalMs: 500 },
      run: async ({ stepMs }, { ask, progress, signal }) => {
        const work = ['Mixing', 'Kneading', 'Resting', 'Baking', 'Cooling'];
        let crust = 'pale';
        for (const [done, stage] of work.entries()) {
          if (stage === 'Baking') {
            const schema = z.object({ crust: z.enum(['pale', 'golden', 'dark']) });
            ({ crust } = await ask('crust', { message: 'How should the crust be?', schema }));
          }
          progress(done, work.length, stage);
          await setTimeout(stepMs, undefined, { signal });
        }
        return `A ${crust} bread`;
      },
    }),
    // #endregion

    roll_dice: tool({
      description: 'Roll dice',
      input: z.object({ count: z.int().min(1).max(100).default(2), sides: z.int().min(2).default(6) }),
      output: z.object({ rolls: z.array(z.int()), total: z.int() }),
      run: ({ count, sides }) => {
        const rolls = Array.from({ length: count }, () => 1 + Math.floor(Math.random() * sides));
        return { rolls, total: rolls.reduce((sum, roll) => sum + roll, 0) };
      },
    }),

    paint: tool({
      description: 'A square of one colour, as an image',
      input: z.object({ color: z.string().regex(/^#[0-9a-fA-F]{6}$/, 'a colour such as #ff8800') }),
      annotations: { readOnly: true },
      run: ({ color }) => [text(`A square in ${color}`), image(square(color), 'image/png')],
    }),

    find_order: tool({
      description: 'Look up an order. Only orders 1 to 3 exist.',
      input: z.object({ id: z.int() }),
      annotations: { readOnly: true },
      run: ({ id }) => {
        const item = ['Compass', 'Lantern', 'Rope'][id - 1];
        if (item === undefined) throw new ToolError(`Order ${id} does not exist. Try 1, 2 or 3.`);
        return { id, item };
      },
    }),

    place_order: placeOrder,

    add_note: tool({
      description: 'Add a note. Subscribers of notes://all are notified.',
      input: z.object({ text: z.string().min(1).max(1000) }),
      run: (note, { changed }) => {
        const id = notes.add(note.text);
        changed.resource('notes://all');
        return `Saved as notes://${id}`;
      },
    }),
  },

  resources: {
    'demo://readme': resource({ title: 'What to try', mimeType: 'text/markdown', read: () => readme }),
    'notes://all': resource({ title: 'All notes', read: () => notes.all() }),
    'notes://{id}': resource({
      title: 'One note',
      complete: { id: (typed) => notes.ids().filter((id) => id.startsWith(typed)) },
      read: ({ id }) => notes.get(String(id)),
    }),
  },

  prompts: {
    explain: prompt({
      description: 'Have something explained',
      args: z.object({
        topic: z.string().describe('What to explain'),
        audience: z.enum(['a child', 'a student', 'an expert']).default('a student'),
      }),
      complete: {
        topic: (typed) => topics.filter((topic) => topic.startsWith(typed.toLowerCase())),
        audience: (typed) => ['a child', 'a student', 'an expert'].filter((who) => who.startsWith(typed)),
      },
      run: ({ topic, audience }) => [
        user(`Explain ${topic} to ${audience}.`),
        user('Use short sentences, and one example from daily life.'),
      ],
    }),
  },
});
