import { createServer } from 'fullmcp';
import { createHandler } from 'fullmcp/http';
import { expect, test, vi } from 'vitest';

test('a handler can be created where random bytes are not available yet, as while a Worker loads, and opens sessions later', async () => {
  const random = vi.spyOn(crypto, 'getRandomValues').mockImplementation(() => {
    throw new Error('Disallowed operation called within global scope');
  });
  const handle = createHandler(createServer({ name: 'quiet', version: '1.0.0' }));
  random.mockRestore();
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } };
  const response = await handle(
    new Request('http://localhost/mcp', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
    }),
  );
  expect(response.headers.get('mcp-session-id')).toMatch(/^\S{50,}$/);
});
