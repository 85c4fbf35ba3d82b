import { McpServer, ResourceTemplate } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const notes = new Map([
  ['1', 'Buy milk'],
  ['2', 'Call Ada'],
]);

function createNotes() {
  const server = new McpServer({ name: 'notes', version: '1.0.0' });
  // #region notes
  server.registerResource(
    'note',
    new ResourceTemplate('note://{id}', {
      list: () => ({
        resources: [...notes.keys()].map((id) => ({ uri: `note://${id}`, name: `Note ${id}` })),
      }),
      complete: { id: (typed) => [...notes.keys()].filter((id) => id.startsWith(typed)) },
    }),
    { mimeType: 'text/plain' },
    (uri, { id }) => ({
      contents: [{ uri: uri.href, mimeType: 'text/plain', text: notes.get(String(id)) ?? '' }],
    }),
  );
  server.registerTool(
    'add_note',
    { description: 'Add a note', inputSchema: z.object({ text: z.string() }) },
    ({ text }) => {
      const id = String(notes.size + 1);
      notes.set(id, text);
      server.sendResourceListChanged();
      return { content: [{ type: 'resource_link', uri: `note://${id}`, name: `Note ${id}` }] };
    },
  );
  // #endregion
  return server;
}

serveStdio(createNotes);
