import { json, type Template } from './template.js';

/** Several servers as one. */
export const gateway: Template = {
  summary: 'several servers as one, behind a gateway',
  firstCall: 'clock_now',
  cases: "{ ask: 'Tell me the time', expect: call('clock_now') },",
  requests: [
    {
      name: 'tells the time',
      tool: 'clock_now',
      expect: { matches: { type: 'string', format: 'date-time' } },
    },
  ],
  notes:
    '`servers.json` names the servers behind the gateway, in the form of other MCP clients. The names of their tools begin with the name of\ntheir server. `src/clock.ts` is one of them; add your own.',
  files: ({ name }) => ({
    'servers.json': json({
      mcpServers: { clock: { command: 'npx', args: ['fullmcp', 'run', 'src/clock.ts'] } },
    }),
    'src/server.ts': `import { gateway } from 'fullmcp/gateway';

export default gateway('servers.json', { name: '${name}', watchMs: 1000 });
`,
    'src/clock.ts': `import { createServer, tool } from 'fullmcp';

export default createServer({
  name: 'clock',
  version: '0.1.0',
  tools: {
    now: tool({
      title: 'Now',
      description: 'Tell the time',
      annotations: { readOnly: true, destructive: false, openWorld: false },
      run: () => new Date().toISOString(),
    }),
  },
});
`,
    'test/server.test.ts': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect } from 'fullmcp/client';
import server from '../src/server.ts';

test('the gateway passes calls on to the clock', async () => {
  const client = await connect(server);
  const { text } = await client.callTool('clock_now');
  assert.ok(Math.abs(Date.parse(text) - Date.now()) < 60_000);
  await client.close();
  await server.close();
});
`,
  }),
};
