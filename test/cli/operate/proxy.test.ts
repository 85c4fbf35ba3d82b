import { fileURLToPath } from 'node:url';
import { createServer, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { serve } from 'fullmcp/node';
import { expect, test } from 'vitest';
import { fullmcp } from '../support/run-cli.js';

const program = fileURLToPath(new URL('../../../dist/cli/fullmcp.js', import.meta.url));

test('fullmcp proxy serves an address to a client that only starts programs, with its headers', async () => {
  const server = createServer({
    name: 'shop',
    version: '1.0.0',
    tools: { key: tool({ run: (_, { request }) => String(request?.header('x-key')) }) },
  });
  await using running = await serve(server, { port: 0 });
  await using client = await connect({
    command: process.execPath,
    args: [program, 'proxy', running.url, '--header', 'X-Key: abc'],
  });
  expect(client.server.info?.name).toBe('shop');
  expect((await client.callTool('key')).text).toBe('abc');
});

test('fullmcp proxy refuses --json, because stdout belongs to the protocol', async () => {
  expect(await fullmcp(['proxy', 'http://127.0.0.1:1/mcp', '--json'])).toMatchObject({ exit: 2 });
});
