// The entry `fullmcp/client`: connects to servers.

import { type Connect, makeConnect } from './connect/connect.js';
import { makeOneShots, type OneShots } from './connect/one-shots.js';
import type { Runtime } from './connect/targets/options.js';
import { checkRuntime } from './protocol/checks/runtime.js';

export * from './connect/public.js';
export type { ServerProcess } from './transports/stdio/client/spawn.js';

checkRuntime(globalThis.process?.versions);

// Each function loads the code for Node when it is called, so that other runtimes never load that code.
const runtime: Runtime = {
  environment: () => globalThis.process?.env,
  openProcess: async (server, options) => (await onNode()).openProcess(server, options),
  script: async (path) => (await onNode()).scriptProcess(path),
  async readConfig(path) {
    const [{ readConfigFile }, { readText }] = await Promise.all([
      import('./connect/config/file.js'),
      onNode(),
    ]);
    return readConfigFile(path, { readFile: readText, env: globalThis.process?.env ?? {} });
  },
  ...(isNode() && {
    http: async (url, http) => (await import('./adapters/node/client/carrier.js')).nodeCarrier(url, http),
  }),
  nats: async (url) => (await import('./adapters/nats/discovery.js')).natsTarget(url),
  ownWebSocket: 'Bun' in globalThis || 'Deno' in globalThis,
  webSocket: async (headers, options, onRefused) =>
    (await onNode()).webSocketWith(headers, options, onRefused),
};

/** Whether this is Node itself. Other runtimes report a Node version too, but their `fetch` is the fastest client they have. */
function isNode(): boolean {
  const others = ['Bun', 'Deno', 'WebSocketPair', 'EdgeRuntime'];
  return globalThis.process?.versions?.node !== undefined && !others.some((name) => name in globalThis);
}

function onNode(): Promise<typeof import('./adapters/node/client/host.js')> {
  return import('./adapters/node/client/host.js');
}

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
export const connect: Connect = /* @__PURE__ */ makeConnect(runtime);

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
