import process from 'node:process';
import { createServer, tool } from 'fullmcp';
import { apiKey, hashApiKey } from 'fullmcp/auth';
import { callTool } from 'fullmcp/client';
import { serve } from 'fullmcp/node';

const server = createServer({
  name: 'sales',
  version: '1.0.0',
  tools: { today: tool({ scopes: ['sales:read'], run: () => ({ orders: 12, total: 480 }) }) },
});

// openssl rand -hex 32 makes a key. Give the server its hash, or the key in the environment as here.
const hash = await hashApiKey(process.env['API_KEY'] ?? '');
export const serving = await serve(server, {
  auth: apiKey({ keys: [{ hash, subject: 'nightly-report', scopes: ['sales:read'] }] }),
});

/** The script: one call, with the same key. */
export async function report(url: string, key: string): Promise<string> {
  const { text } = await callTool(url, 'today', {}, { auth: key });
  return text;
}
