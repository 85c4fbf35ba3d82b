import { inspector } from 'fullmcp/inspector';
import { serve } from 'fullmcp/node';
import { serveStdio } from 'fullmcp/stdio';
import { openInBrowser } from './browser.js';
import server from './server.js';

if (process.argv.includes('--stdio')) serveStdio(server);
else await serveHttp();

async function serveHttp(): Promise<void> {
  try {
    const { url, closed } = await serve(server);
    await using inspecting = inspector(url);
    const page = await inspecting.listen();
    console.log(welcome(url, page.url));
    openInBrowser(page.url);
    await closed;
    console.log('Closed. Goodbye.');
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}

function welcome(url: string, page: string): string {
  return `The demo server listens on ${url}
See what it does in the inspector:
  ${page}

Paste one of these into another terminal.

Use it in Claude Code. Say "order a pizza" to be asked questions, or "bake a bread" for a long call:
  claude mcp add --transport http demo ${url}

List its tools:
  npx fullmcp list ${url}

Add two numbers with curl:
${curl(url, 'add', { arguments: { a: 2, b: 40 } })}

Start a task with curl. Pass its id to tasks/get to see how far it is:
${curl(url, 'bake_bread', {}, { elicitation: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } })}

With --stdio, it uses standard input and output instead. Press Ctrl+C to stop it.`;
}

function curl(url: string, name: string, params: object, capabilities: object = {}): string {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  };
  const request = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, ...params, _meta } };
  return `  curl -s ${url} -H 'Content-Type: application/json' \\
    -H 'MCP-Protocol-Version: 2026-07-28' -H 'Mcp-Method: tools/call' -H 'Mcp-Name: ${name}' \\
    -d '${JSON.stringify(request)}'`;
}
