// Runs under --disallow-code-generation-from-strings and prints the responses of the tools.
import { createServer, tool } from 'fullmcp';
import { createHandler } from 'fullmcp/http';
import { z } from 'zod';

try {
  new Function('return 1');
  throw new Error('This runtime compiles code from strings, so the test proves nothing.');
} catch (error) {
  if (!(error instanceof EvalError)) throw error;
}

z.config({ jitless: true });
const server = createServer({
  name: 'no-eval',
  version: '1.0.0',
  tools: {
    zod: tool({ input: z.object({ a: z.number(), b: z.number() }), run: ({ a, b }) => a + b }),
    json: tool({
      input: {
        type: 'object',
        properties: { a: { type: 'number' }, b: { type: 'number' } },
        required: ['a', 'b'],
        additionalProperties: false,
      },
      run: ({ a, b }) => a + b,
    }),
  },
});
const handle = createHandler(server);
const answers = [];
for (const name of ['zod', 'json']) {
  for (const args of [{ a: 1, b: 2 }, { a: 'one' }]) answers.push(await call(name, args));
}
console.log(JSON.stringify(answers));

async function call(name, args) {
  const response = await handle(
    new Request('http://localhost/mcp', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': name,
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: {
          name,
          arguments: args,
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1.0.0' },
            'io.modelcontextprotocol/clientCapabilities': {},
          },
        },
      }),
    }),
  );
  return response.json();
}
