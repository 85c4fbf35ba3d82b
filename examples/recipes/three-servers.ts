import process from 'node:process';
import { apiKey, hashApiKey } from 'fullmcp/auth';
import { gateway } from 'fullmcp/gateway';
import { serve } from 'fullmcp/node';

const hub = gateway(
  {
    mcpServers: {
      // A program that the gateway starts, and two servers on the network.
      math: { command: 'node', args: [process.env['MATH'] ?? 'math.js'] },
      notes: { url: process.env['NOTES_URL'] ?? 'https://notes.example.com/mcp' },
      tickets: {
        url: process.env['TICKETS_URL'] ?? 'https://tickets.example.com/mcp',
        headers: { authorization: `Bearer ${process.env['TICKETS_TOKEN'] ?? ''}` },
      },
    },
  },
  {
    name: 'our tools',
    // Tools have the name of their server in front: math_add, notes_search. Nobody deletes through this endpoint.
    allow: ({ kind, name }) => kind !== 'tool' || !name.startsWith('delete_'),
  },
);

const hash = await hashApiKey(process.env['API_KEY'] ?? '');
export const serving = await serve(hub, { auth: apiKey({ keys: [{ hash, subject: 'team', scopes: [] }] }) });
console.log(`Listening on ${serving.url}`);
