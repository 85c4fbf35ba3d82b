import { connect, type GroupClient } from 'fullmcp/client';
import math from '../basic-server/server.js';
import demo from '../demo/server.js';

// The examples of docs/many-servers.md.

export async function several(script: string, url: string, token: string): Promise<GroupClient> {
  // #region config
  const client = await connect({
    mcpServers: {
      math: { command: 'node', args: [script], env: { LOG_LEVEL: 'info' } },
      shop: { url, headers: { authorization: `Bearer ${token}` } },
      demo: { target: demo }, // anything that connect accepts: here a server in this process
    },
  });
  // #endregion
  return client;
}

export async function use(client: GroupClient): Promise<string[]> {
  // #region use
  const tools = await client.tools().all(); // math_add, shop_add, demo_add, demo_countdown …
  const { text } = await client.callTool('math_add', { a: 1, b: 2 });
  const readme = await client.readResource('demo://readme'); // URIs stay as they are
  // #endregion
  return [...tools.map(({ name }) => name), text, readme.text.slice(0, 4)];
}

export async function fromFile(path: string): Promise<string[]> {
  // #region file
  await using client = await connect(path); // './mcp.json'
  // #endregion
  return (await client.tools().all()).map(({ name }) => name);
}

export async function failing(url: string): Promise<unknown[]> {
  await using client = await connect({
    mcpServers: { math: { target: math }, gone: { url } },
  });
  // #region failing
  client.on('problem', ({ message }) => console.error(message)); // gone: Cannot reach https://…
  const tools = await client.tools().all(); // the tools of the servers that are available
  for (const [name, { status, error }] of client.servers) console.error(name, status, error?.message);
  // #endregion
  return [tools.length, client.servers.get('math')?.status, client.servers.get('gone')];
}

export async function changing(client: GroupClient): Promise<string[]> {
  // #region changing
  client.add('math2', { target: math }); // connected when it is first needed
  const sum = await client.callTool('math2_add', { a: 1, b: 2 });
  await client.remove('math2'); // closed when this returns
  // #endregion
  return [sum.text, ...client.servers.keys()];
}

export async function one(client: GroupClient): Promise<string> {
  // #region member
  const demo = await client.member('demo'); // an ordinary client, connected
  const { text } = await demo.callTool('add', { a: 1, b: 2 }); // no prefix here
  // #endregion
  return text;
}
