import { createServer, resource, resourceLink, tool } from 'fullmcp';
import { serveStdio } from 'fullmcp/stdio';
import { z } from 'zod';

const notes = new Map([
  ['1', 'Buy milk'],
  ['2', 'Call Ada'],
]);

// #region notes
export const server = createServer({
  name: 'notes',
  version: '1.0.0',
  changes: ['resources'],
  resources: {
    'note://{id}': resource({
      name: 'note',
      mimeType: 'text/plain',
      list: () => [...notes.keys()].map((id) => ({ uri: `note://${id}`, name: `Note ${id}` })),
      complete: { id: (typed) => [...notes.keys()].filter((id) => id.startsWith(typed)) },
      read: ({ id }) => notes.get(id),
    }),
  },
  tools: {
    add_note: tool({
      description: 'Add a note',
      input: z.object({ text: z.string() }),
      run: ({ text }, { changed }) => {
        const id = String(notes.size + 1);
        notes.set(id, text);
        changed.resources();
        return resourceLink(`note://${id}`, { name: `Note ${id}` });
      },
    }),
  },
});
// #endregion

serveStdio(server);
