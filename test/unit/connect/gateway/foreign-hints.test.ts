// Errors of foreign servers that name what a gateway hides.

import { createServer, McpError, type Middleware, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { gateway } from 'fullmcp/gateway';
import { expect, onTestFinished, test } from 'vitest';

/** A server that answers a call of an unknown tool with the names of all tools, as some do. */
function talkative() {
  const listing: Middleware = async (call, next) => {
    const { name } = call.params;
    if (call.method !== 'tools/call' || name === 'shown') return next(call);
    if (name === 'fails') throw new McpError('internal_error', 'The call of hidden_tool failed.');
    if (name === 'endless') throw new McpError('internal_error', 'x'.repeat(100_000));
    throw new McpError(
      'internal_error',
      `Unknown tool: ${String(name)}. Available: shown, fails, hidden_tool`,
    );
  };
  const plain = tool({ run: () => 'done' });
  return createServer({
    ...{ name: 'talkative', version: '1.0.0', logger: () => undefined, use: [listing] },
    tools: { shown: plain, fails: plain, hidden_tool: plain },
  });
}

async function clientOf(hidden: readonly string[]) {
  const hub = gateway(
    { mcpServers: { s: { target: talkative() } } },
    { logger: () => undefined, allow: ({ name }) => !hidden.includes(name) },
  );
  const client = await connect(hub);
  onTestFinished(async () => {
    await client.close();
    await hub.close();
  });
  return client;
}

test('a foreign server does not tell a caller of a gateway the names of tools that the rule hides', async () => {
  const client = await clientOf(['hidden_tool']);
  const error = await client.callTool('s_nope').catch((thrown: McpError) => thrown);
  expect(error).toMatchObject({
    code: 'invalid_params',
    message: expect.stringContaining('Unknown tool: '),
  });
  expect(JSON.stringify(error)).not.toContain('hidden_tool');
  expect((error as McpError).message).not.toContain('hidden_tool');
  expect((await client.callTool('s_shown')).text).toBe('done');
});

test('the errors of a foreign server stay as they are if they name nothing that is hidden, or are about a tool that exists', async () => {
  const open = await clientOf([]);
  await expect(open.callTool('s_nope')).rejects.toThrow('Available: shown, fails, hidden_tool');
  const guarded = await clientOf(['hidden_tool']);
  await expect(guarded.callTool('s_fails')).rejects.toThrow('The call of hidden_tool failed.');
});

test('an error of a foreign server that is too long to be searched for hidden names is not passed on', async () => {
  const client = await clientOf(['hidden_tool']);
  await expect(client.callTool('s_endless')).rejects.toThrow('Unknown tool: ');
});
