// The entry `fullmcp/gateway`: one server in front of many.

import { gatewayFiles } from './adapters/runtime/gateway-files.js';
import { ownRuntime } from './adapters/runtime/own-runtime.js';
import { type GatewayTo, makeGateway } from './connect/gateway/make-gateway.js';
import { circuitBreaker } from './middleware/resilience/circuit-breaker.js';
import { checkRuntime } from './protocol/checks/runtime.js';

export type { Reloaded } from './connect/gateway/gateway-servers.js';
export type { Gateway, GatewayTo } from './connect/gateway/make-gateway.js';
export type { GatewayServerInfo } from './connect/gateway/member-state.js';
export type { GatewayOptions, GatewayRule } from './connect/gateway/options.js';
export type { PinChange, PinOptions } from './connect/gateway/pins/options.js';
export type { ProxyServer } from './connect/proxy/make-proxy.js';
export type { Identity } from './connect/proxy/options.js';
export type { McpConfig, ServerEntry } from './connect/targets/target.js';
export type { CodeOptions } from './protocol/code/code-options.js';
export type { SearchOptions } from './protocol/model/search/options.js';

checkRuntime();

/**
 * Makes a server that presents several servers as one: those of an `mcpServers` config, or of its file. Tools and prompts have the name of
 * their server as a prefix; resources keep their URIs. Each server is started when it is first needed.
 *
 * @example
 * await serve(gateway('mcp.json', { watchMs: 1000 }));
 */
export const gateway: GatewayTo = /* @__PURE__ */ makeGateway({
  runtime: ownRuntime,
  files: gatewayFiles,
  breaker: (options) => circuitBreaker(options),
});
