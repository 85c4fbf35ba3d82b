import { expect, test } from 'vitest';
import { servePublicly } from '../../../examples/guide/server-card.js';

// Runs the code that docs/server-card.md shows.

test('the server of the guide has a card, and a catalog that leads to it', async () => {
  const serving = await servePublicly(0);
  try {
    const site = `http://localhost:${serving.port}`;
    const catalog = await (await fetch(`${site}/.well-known/ai-catalog.json`)).json();
    expect(catalog.entries[0].url).toBe('https://api.example.com/mcp/server-card');
    const card = await (await fetch(`${site}/mcp/server-card`)).json();
    expect(card).toMatchObject({ name: 'com.example/weather', description: 'Forecasts for cities' });
    expect(card.remotes[0].url).toBe('https://api.example.com/mcp');
  } finally {
    await serving.close();
  }
});
