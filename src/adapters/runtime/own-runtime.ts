import type { Runtime } from '../../connect/targets/options.js';

// Each function loads the code for Node when it is called, so that other runtimes never load that code.
/** The abilities of the runtime that this program runs in. */
export const ownRuntime: Runtime = {
  environment: () => globalThis.process?.env,
  openProcess: async (server, options) => (await onNode()).openProcess(server, options),
  withScript: async (path, use) => (await onNode()).withScript(path, use),
  async readConfig(path) {
    const [{ readConfigFile }, { readText }] = await Promise.all([
      import('../../connect/config/file.js'),
      onNode(),
    ]);
    return readConfigFile(path, { readFile: readText, env: globalThis.process?.env ?? {} });
  },
  ...(isNode() && {
    http: async (url, http) => (await import('../node/client/carrier.js')).nodeCarrier(url, http),
  }),
  nats: async (url) => (await import('../nats/discovery.js')).natsTarget(url),
  ownWebSocket: 'Bun' in globalThis || 'Deno' in globalThis,
  webSocket: async (headers, options, onRefused) =>
    (await onNode()).webSocketWith(headers, options, onRefused),
};

/** Whether this is Node itself. Other runtimes report a Node version too, but their `fetch` is the fastest client they have. */
function isNode(): boolean {
  const others = ['Bun', 'Deno', 'WebSocketPair', 'EdgeRuntime'];
  return globalThis.process?.versions?.node !== undefined && !others.some((name) => name in globalThis);
}

function onNode(): Promise<typeof import('../node/client/host.js')> {
  return import('../node/client/host.js');
}
