import type { Template } from './template.js';

/** A server over HTTP whose callers have API keys. */
export const httpAuth: Template = {
  summary: 'notes over HTTP, protected by an API key',
  firstCall: 'add_note text=Hello',
  cases: "{ ask: 'Note that the milk is empty', expect: call('add_note', { text: /milk/i }) },",
  evalOptions: "{ caller: { subject: 'me', scopes: ['notes:read', 'notes:write'] } }",
  requests: [
    { name: 'has no notes at first', tool: 'read_notes', expect: { equal: 'No notes yet' } },
    { name: 'takes a note', tool: 'add_note', arguments: { text: 'Hello' }, expect: { equal: 'Noted' } },
    { name: 'reads the note', tool: 'read_notes', expect: { contains: 'Hello' } },
  ],
  token: 'API_KEY',
  notes: `Callers over HTTP need the key of the variable \`API_KEY\`:

\`\`\`bash
export API_KEY=$(openssl rand -hex 32)
npm start
MCP_TOKEN=$API_KEY npx fullmcp call http://localhost:3000/mcp read_notes   # in another terminal, with the same API_KEY
\`\`\`

If people are to log in, use an OAuth provider of \`fullmcp/auth\` instead of \`apiKey\`.`,
  files: ({ name }) => ({
    'src/server.ts': `import { randomUUID } from 'node:crypto';
import { createServer, tool } from 'fullmcp';
import { apiKey, hashApiKey } from 'fullmcp/auth';
import { z } from 'zod';

const key = process.env['API_KEY'];
if (!key) console.error('API_KEY is not set: npm start refuses every request over HTTP. fullmcp dev needs no key.');
const hash = await hashApiKey(key || randomUUID());

const notes = new Map<string, string[]>();

export default createServer({
  name: '${name}',
  version: '0.1.0',
  auth: apiKey({ keys: [{ hash, subject: 'me', scopes: ['notes:read', 'notes:write'] }] }),
  tools: {
    read_notes: tool({
      title: 'Read notes',
      description: 'Read all notes of the caller',
      scopes: ['notes:read'],
      annotations: { readOnly: true, destructive: false, openWorld: false },
      run: (_, { auth }) => notes.get(auth?.subject ?? '')?.join('\\n') ?? 'No notes yet',
    }),
    add_note: tool({
      title: 'Add a note',
      description: 'Add a note of the caller',
      scopes: ['notes:write'],
      input: z.object({ text: z.string().max(1000).describe('The text of the note') }),
      annotations: { readOnly: false, destructive: false, openWorld: false },
      run({ text }, { auth }) {
        const owner = auth?.subject ?? '';
        notes.set(owner, [...(notes.get(owner) ?? []), text]);
        return 'Noted';
      },
    }),
  },
});
`,
    'test/server.test.ts': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect } from 'fullmcp/client';
import { serve } from 'fullmcp/node';
import { testClient } from 'fullmcp/testing';

process.env['API_KEY'] = 'a-key-that-is-only-used-in-this-test';
const { default: server } = await import('../src/server.ts');

test('a caller may only use the tools of its scopes', async () => {
  const reader = await testClient(server, { caller: { subject: 'bea', scopes: ['notes:read'] } });
  assert.equal((await reader.callTool('read_notes')).text, 'No notes yet');
  await assert.rejects(reader.callTool('add_note', { text: 'x' }), { code: 'forbidden' });
  await reader.close();
});

test('a request over HTTP needs the key', async () => {
  const serving = await serve(server, { port: 0 });
  try {
    await assert.rejects(connect(serving.url), { code: 'unauthorized' });
    const client = await connect(serving.url, { auth: process.env['API_KEY'] ?? '' });
    assert.equal((await client.callTool('add_note', { text: 'Hello' })).text, 'Noted');
    await client.close();
  } finally {
    await serving.close();
  }
});
`,
  }),
};
