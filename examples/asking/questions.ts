import { prompt, resource, ToolError, tool } from 'fullmcp';
import { z } from 'zod';

// #region form
const trip = z.object({
  name: z.string().min(1).max(80).meta({ title: 'Name on the ticket' }),
  email: z.email(),
  day: z.iso.date().describe('The day you leave'),
  bags: z.int().min(0).max(3).default(1),
  window: z.boolean().optional(),
  meal: z.enum(['none', 'vegetarian', 'fish']),
  seat: z.union([
    z.literal('1').meta({ title: 'First class' }),
    z.literal('2').meta({ title: 'Second class' }),
  ]),
  extras: z.array(z.enum(['wifi', 'lounge', 'bike'])).max(2),
});

export const book = tool({
  description: 'Book a train',
  run: async (_input, ctx) => {
    const answer = await ctx.elicit('trip', { message: 'Where do we send the ticket?', schema: trip });
    switch (answer.action) {
      case 'accept':
        return `Booked for ${answer.content.name}, bags: ${answer.content.bags}`;
      case 'decline':
        return 'The user does not want to book.';
      case 'cancel':
        throw new ToolError('The user closed the form. Ask whether to try again.');
    }
  },
});
// #endregion

// #region url
export const connect = tool({
  description: 'Connect the calendar',
  run: async (_input, ctx) => {
    const id = await ctx.step('begin', () => crypto.randomUUID());
    const visit = await ctx.elicit('visit', {
      message: 'Sign in to your calendar',
      url: `https://calendar.example.com/connect?id=${id}`,
    });
    return visit.action === 'accept' ? `Opened. Look up ${id} to see if it is done.` : 'Not connected';
  },
});
// #endregion

// #region sample
export const title = tool({
  description: 'Find a title for an article',
  input: z.object({ text: z.string() }),
  run: async ({ text }, ctx) => {
    const answer = await ctx.sample('title', {
      messages: `A title of five words at most, and nothing else:\n\n${text}`,
      systemPrompt: 'You write headlines.',
      maxTokens: 50,
    });
    return answer.text.trim();
  },
});
// #endregion

// #region roots
export const folders = resource({
  title: 'The folders that the client has open',
  read: async (_values, ctx) => (await ctx.roots('open')).map(({ uri }) => uri),
});
// #endregion

// #region prompt
export const review = prompt({
  description: 'Review a change',
  run: async (_args, ctx) => {
    const { focus } = await ctx.ask('focus', {
      message: 'What should the review look at?',
      schema: z.object({ focus: z.enum(['bugs', 'style', 'speed']) }),
    });
    return `Review the change I am about to paste. Look at ${focus} only.`;
  },
});
// #endregion

// #region together
export const dinner = tool({
  description: 'Plan a dinner',
  run: async (_input, ctx) => {
    const [guests, idea] = await Promise.all([
      ctx.ask('guests', { message: 'How many guests?', schema: z.object({ count: z.int().min(1) }) }),
      ctx.sample('idea', { messages: 'One dish for a cold evening. Its name only.', maxTokens: 20 }),
    ]);
    return `${idea.text} for ${guests.count}`;
  },
});
// #endregion

// #region rounds
export const guess = tool({
  description: 'Let the user guess a number',
  run: async (_input, ctx) => {
    const number = await ctx.step('think', () => 1 + Math.floor(Math.random() * 100));
    let hint = 'Guess a number from 1 to 100';
    for (let round = 1; round <= 8; round++) {
      const schema = z.object({ guess: z.int() });
      const { guess } = await ctx.ask(`guess ${round}`, { message: hint, schema });
      if (guess === number) return `Found in ${round} rounds`;
      hint = guess < number ? `More than ${guess}` : `Less than ${guess}`;
    }
    return `Not found. It was ${number}.`;
  },
});
// #endregion

// #region able
export const summarize = tool({
  description: 'Summarize an article',
  input: z.object({ text: z.string() }),
  run: async ({ text }, ctx) => {
    if (ctx.client.capabilities.sampling === undefined) return `${text.slice(0, 200)}…`;
    return (await ctx.sample('summary', { messages: `In one sentence: ${text}`, maxTokens: 100 })).text;
  },
});
// #endregion

// #region nested
export const party = tool({
  description: 'Plan a party: a dinner and a game',
  run: async (_input, ctx) => {
    const dinner = await ctx.call('dinner');
    const game = await ctx.call('guess');
    return [...dinner.content, ...game.content];
  },
});
// #endregion
