// The entry `fullmcp/proxy`: servers that pass calls on to other servers.

import { ownRuntime } from './adapters/runtime/own-runtime.js';
import { makeProxy, type ProxyTo } from './connect/proxy/make-proxy.js';
import { checkRuntime } from './protocol/checks/runtime.js';

export type { ProxyServer, ProxyTo } from './connect/proxy/make-proxy.js';
export type { Identity, ProxyOptions } from './connect/proxy/options.js';
export type { SearchOptions } from './protocol/model/search/options.js';

checkRuntime();

/**
 * Makes a server that passes every call on to another one: anything that `connect` takes, of any revision. Callers may speak any other
 * revision, over any transport.
 *
 * @example
 * await serve(proxy('https://example.com/mcp', { auth: 'my-token' }));
 */
export const proxy: ProxyTo = /* @__PURE__ */ makeProxy(ownRuntime);
