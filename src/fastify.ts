import { type AppRequest, type Plugin, plugin } from './adapters/fastify/plugin.js';
import { createEndpoint, type EndpointOptions, type Served } from './http.js';
import { foreignHandlerNames, handlerKeys } from './legacy/handler-keys.js';
import type { Authenticate } from './protocol/caller.js';
import { checkOptions, type KeysOf } from './protocol/known-keys.js';

export type { AppRequest, Plugin } from './adapters/fastify/plugin.js';

export interface PluginOptions<Req extends AppRequest = AppRequest> extends EndpointOptions {
  /** Says who sent a request, from Fastify's own, before its body is read: what a hook has put on it is there. */
  readonly auth?: Authenticate<Req> | undefined;
}

/** A Fastify plugin: `app.register(createPlugin(server), { prefix: '/mcp' })`. */
export function createPlugin<Req extends AppRequest = AppRequest>(
  server: Served,
  options: PluginOptions<Req> = {},
): Plugin {
  checkOptions('createPlugin', options, handlerKeys satisfies KeysOf<PluginOptions>, foreignHandlerNames);
  return plugin(createEndpoint(server, options));
}
