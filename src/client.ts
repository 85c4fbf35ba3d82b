// The entry `fullmcp/client`: connects to servers.

import { ownRuntime } from './adapters/runtime/own-runtime.js';
import { type Connect, makeConnect } from './connect/connect.js';
import { makeOneShots, type OneShots } from './connect/one-shots.js';
import { checkRuntime } from './protocol/checks/runtime.js';

export * from './connect/public.js';
export type { ServerProcess } from './transports/stdio/client/spawn.js';

checkRuntime();

/**
 * Connects to a server, whatever it is and whatever it speaks: a URL, a script, a process, a server in the same process, or a
 * config of several servers. The promise resolves to a client that is ready, or rejects with an `McpError` that says what was
 * tried. Without a target, the environment variable MCP_SERVER_URL names the server.
 * @example
 * ```ts
 * await using client = await connect('https://example.com/mcp', { auth: 'my-token' });
 * const tools = await client.tools().all();
 * const { text } = await client.callTool('search', { query: 'weather' });
 * ```
 */
export const connect: Connect = /* @__PURE__ */ makeConnect(ownRuntime);

const oneShots: OneShots = /* @__PURE__ */ makeOneShots(connect);
/**
 * Connects, runs `use` with the client, and closes the client, even if `use` throws. A lost connection is not reopened.
 * @example
 * ```ts
 * const names = await withClient('./server.js', async (client) => {
 *   const tools = await client.tools().all();
 *   return tools.map(({ name }) => name);
 * });
 * ```
 */
export const withClient: OneShots['withClient'] = oneShots.withClient;
/**
 * Connects, calls one tool, and closes. A failure of the tool itself is a result with `isError`; `unwrap` throws it. Without a
 * target, the environment variable MCP_SERVER_URL names the server.
 * @example
 * ```ts
 * const result = await callTool('https://example.com/mcp', 'add', { a: 1, b: 2 }, { timeoutMs: 10_000 });
 * console.log(result.text);
 * ```
 */
export const callTool: OneShots['callTool'] = oneShots.callTool;
/** Connects, lists all tools, and closes. */
export const listTools: OneShots['listTools'] = oneShots.listTools;
/** Connects, reads one resource, and closes. */
export const readResource: OneShots['readResource'] = oneShots.readResource;
/** Connects, gets one prompt, and closes. */
export const getPrompt: OneShots['getPrompt'] = oneShots.getPrompt;
/** Connects, reads the server's description of itself (name, capabilities, instructions and revision), and closes. */
export const serverInfo: OneShots['serverInfo'] = oneShots.serverInfo;
