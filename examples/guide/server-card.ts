// A server that clients find on its website.
import { createServer, tool } from 'fullmcp';
import { type Serving, serve } from 'fullmcp/node';
import { serverCard } from 'fullmcp/server-card';

const server = createServer({
  name: 'weather',
  version: '1.0.0',
  description: 'Forecasts for cities',
  tools: { forecast: tool({ run: () => 'Sunny' }) },
});

export function servePublicly(port = 3000): Promise<Serving> {
  // #region card
  return serve(server, {
    port,
    publicUrl: 'https://api.example.com/mcp',
    card: serverCard({ name: 'com.example/weather' }),
  });
  // #endregion
}
