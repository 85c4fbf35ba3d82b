import { defineWith } from 'fullmcp';
import { z } from 'zod';

const { createServer, resource, tool } = defineWith({
  lifespan: async function* () {
    yield { notes: new Map([['ada', ['engine', 'errands']]]) };
  },
  // `auth` is the authenticated caller. Every handler gets the user, also in tasks and after a restart.
  user: ({ auth }) => ({ name: auth?.subject ?? 'guest' }),
});

export const server = createServer({
  name: 'notes',
  version: '1.0.0',
  tools: {
    add_note: tool({
      input: z.object({ text: z.string() }),
      run: ({ text }, { state, user }) => {
        state.notes.set(user.name, [...(state.notes.get(user.name) ?? []), text]);
        return `Noted for ${user.name}`;
      },
    }),
    add_notes: tool({
      input: z.object({ texts: z.array(z.string()) }),
      task: 'optional',
      run: async ({ texts }, ctx) => {
        // The inner tool gets the same user.
        for (const text of texts) await ctx.call('add_note', { text });
        return `${texts.length} notes for ${ctx.user.name}`;
      },
    }),
  },
  resources: {
    'notes://{name}': resource({
      read: ({ name }, { state, user }) => state.notes.get(user.name)?.find((text) => text === name),
      complete: {
        // Only the caller's own notes are suggested.
        name: (typed, _filled, { state, user }) =>
          (state.notes.get(user.name) ?? []).filter((text) => text.startsWith(typed)),
      },
    }),
  },
});
