// Experimental capabilities, declared by both ends.
import { createServer, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';

// #region experimental
const server = createServer({
  name: 'sandbox',
  version: '1.0.0',
  experimental: { 'com.example/snapshots': { max: 3 } },
  tools: {
    preview: tool({
      run: (_, ctx) =>
        'com.example/preview' in (ctx.client.capabilities.experimental ?? {}) ? 'shown' : 'text',
    }),
  },
});

await using client = await connect(server, { experimental: { 'com.example/preview': {} } });
export const ofServer = client.server.capabilities.experimental; // { 'com.example/snapshots': { max: 3 } }
export const { text } = await client.callTool('preview'); // shown
// #endregion
