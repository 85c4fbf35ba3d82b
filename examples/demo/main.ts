import { serve } from 'fullmcp/node';
import { serveStdio } from 'fullmcp/stdio';
import server from './server.js';

if (process.argv.includes('--stdio')) serveStdio(server);
else await serveHttp();

async function serveHttp(): Promise<void> {
  try {
    const { url, closed } = await serve(server);
    console.log(welcome(url));
    await closed;
    console.log('Closed. Goodbye.');
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}

function welcome(url: string): string {
  const request = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: {
      name: 'add',
      arguments: { a: 2, b: 40 },
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': {},
      },
    },
  };
  return `The demo server listens on ${url}

Paste one of these into another terminal.

Use it in Claude Code:
  claude mcp add --transport http demo ${url}

List its tools with the Inspector:
  npx @modelcontextprotocol/inspector --cli ${url} --transport http --method tools/list

Add two numbers with curl:
  curl -s ${url} \\
    -H 'Content-Type: application/json' \\
    -H 'MCP-Protocol-Version: 2026-07-28' -H 'Mcp-Method: tools/call' -H 'Mcp-Name: add' \\
    -d '${JSON.stringify(request)}'

With --stdio it speaks on standard input and output instead. Ctrl+C stops it.`;
}
