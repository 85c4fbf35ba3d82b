import type { Template } from './template.js';

/** One tool, and nothing else. */
export const minimal: Template = {
  summary: 'one tool to begin with',
  firstCall: 'greet name=Ada',
  cases:
    "{ ask: 'Say hello to Ada', expect: call('greet', { name: /ada/i }) },\n{ ask: 'Add 2 and 2 yourself', expect: [] },",
  requests: [
    { name: 'greets Ada', tool: 'greet', arguments: { name: 'Ada' }, expect: { equal: 'Hello, Ada!' } },
    { name: 'needs a name', tool: 'greet', expect: { fails: 'name' } },
  ],
  files: ({ name }) => ({
    'src/server.ts': `import { createServer, tool } from 'fullmcp';
import { z } from 'zod';

export default createServer({
  name: '${name}',
  version: '0.1.0',
  tools: {
    greet: tool({
      title: 'Greet',
      description: 'Greet a person',
      input: z.object({ name: z.string().describe('The name of the person') }),
      annotations: { readOnly: true, destructive: false, openWorld: false },
      run: ({ name }) => \`Hello, \${name}!\`,
    }),
  },
});
`,
    'test/server.test.ts': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testClient } from 'fullmcp/testing';
import server from '../src/server.ts';

test('greet greets a person by name', async () => {
  const client = await testClient(server);
  assert.equal((await client.callTool('greet', { name: 'Ada' })).text, 'Hello, Ada!');
  await client.close();
});
`,
  }),
};
