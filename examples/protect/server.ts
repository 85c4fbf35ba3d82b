import { createServer, tool } from 'fullmcp';
import { z } from 'zod';

const notes = new Map<string, string[]>();

export const server = createServer({
  name: 'notes',
  version: '1.0.0',
  tools: {
    about: tool({ run: () => 'A server that keeps notes' }),
    read_notes: tool({
      scopes: ['notes:read'],
      run: (_, { auth }) => notes.get(auth?.subject ?? '')?.join('\n') ?? 'No notes yet',
    }),
    add_note: tool({
      scopes: ['notes:write'],
      input: z.object({ text: z.string() }),
      run({ text }, { auth }) {
        const owner = auth?.subject ?? '';
        notes.set(owner, [...(notes.get(owner) ?? []), text]);
        return `Noted for ${owner}`;
      },
    }),
  },
});
