import { type Connect, makeConnect } from './connect/connect.js';
import { makeOneShots, type OneShots } from './connect/one-shots.js';
import type { Host } from './connect/options.js';
import { checkRuntime } from './protocol/runtime.js';

export * from './connect/public.js';
export type { ServerProcess } from './transports/stdio/spawn.js';

checkRuntime(globalThis.process?.versions);

// Where there is no Node, none of this is loaded until somebody wants a process.
const host: Host = {
  openProcess: async (server, options) => (await onNode()).openProcess(server, options),
  script: async (path) => (await onNode()).scriptProcess(path),
  async readConfig(path) {
    const [{ readConfigFile }, { readText }] = await Promise.all([
      import('./connect/config-file.js'),
      onNode(),
    ]);
    return readConfigFile(path, { readFile: readText, env: globalThis.process?.env ?? {} });
  },
  ...(isNode() && {
    http: async (url, http) =>
      (await import('./adapters/node/http-client/carrier.js')).nodeCarrier(url, http),
  }),
  ownWebSocket: 'Bun' in globalThis || 'Deno' in globalThis,
  webSocket: async (headers, options) => (await onNode()).webSocketWith(headers, options),
};

/** Node itself: others name its version too, but their `fetch` is the fastest that they have. */
function isNode(): boolean {
  const others = ['Bun', 'Deno', 'WebSocketPair', 'EdgeRuntime'];
  return globalThis.process?.versions?.node !== undefined && !others.some((name) => name in globalThis);
}

function onNode(): Promise<typeof import('./adapters/node/client-host.js')> {
  return import('./adapters/node/client-host.js');
}

export const connect: Connect = /* @__PURE__ */ makeConnect(host);

const oneShots: OneShots = /* @__PURE__ */ makeOneShots(connect);
export const withClient: OneShots['withClient'] = oneShots.withClient;
export const callTool: OneShots['callTool'] = oneShots.callTool;
export const listTools: OneShots['listTools'] = oneShots.listTools;
export const readResource: OneShots['readResource'] = oneShots.readResource;
export const getPrompt: OneShots['getPrompt'] = oneShots.getPrompt;
export const serverInfo: OneShots['serverInfo'] = oneShots.serverInfo;
