import { defineWith, McpError } from 'fullmcp';
import { z } from 'zod';

const notesOf = new Map<string, string[]>(); // in production: a table with a column for the tenant

const { createServer, tool, resource } = defineWith({
  // Runs before each call. The claim is in the token, which `auth` has verified: a caller cannot choose it.
  user({ auth }) {
    const tenant = auth?.claims['tenant'];
    if (typeof tenant !== 'string') throw new McpError('forbidden', 'Your account belongs to no company.');
    const notes = notesOf.get(tenant) ?? [];
    notesOf.set(tenant, notes);
    return { tenant, notes };
  },
});

// Handlers get the notes of their tenant, and no way to reach those of another.
export default createServer({
  name: 'notes',
  version: '1.0.0',
  tools: {
    add_note: tool({
      input: z.object({ text: z.string().max(10_000) }),
      run: ({ text }, { user }) => `Note ${user.notes.push(text)} of ${user.tenant}`,
    }),
  },
  resources: {
    'notes://all': resource({ read: (_values, { user }) => user.notes }),
  },
});
