import { afterEach } from 'vitest';
import {
  openPort,
  type ProxiedOptions,
  type ProxiedServer,
  startProxied,
  startUpstream,
  type UpstreamServer,
} from './proxied-server.js';
import { ProxyFlow } from './proxy-flow.js';

/** A provider, a server with a proxy in front of it, and the steps of a login there. */
export interface ProxySetup {
  readonly upstream: UpstreamServer;
  readonly server: ProxiedServer;
  readonly flow: ProxyFlow;
}

/** Makes a function that starts both servers. They are closed after each test. */
export function proxySetup(): (options?: SetupOptions) => Promise<ProxySetup> {
  const closing: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });
  return async function setUp(options = {}) {
    const { upstream: upstreamOptions, base = '', ...more } = options;
    const http = await openPort();
    const upstream = await startUpstream({
      callbacks: [`${http.origin}${base}/callback`],
      ...upstreamOptions,
    });
    closing.push(upstream.close);
    const server = await startProxied(upstream.issuer, { ...more, http });
    closing.push(server.close);
    const flow = new ProxyFlow(server.proxy.issuer);
    await flow.register();
    return { upstream, server, flow };
  };
}

export interface SetupOptions extends ProxiedOptions {
  readonly upstream?: Partial<Parameters<typeof startUpstream>[0]>;
  /** The path of the endpoints. Default: none. */
  readonly base?: string;
}
