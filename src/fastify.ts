import { type Plugin, plugin } from './adapters/fastify/plugin.js';
import { createEndpoint, type HandlerOptions, type Served } from './http.js';

import { handlerKeys } from './legacy/handler-keys.js';
import { checkOptions, type KeysOf } from './protocol/known-keys.js';

export type { Plugin } from './adapters/fastify/plugin.js';

/** A Fastify plugin: `app.register(createPlugin(server), { prefix: '/mcp' })`. */
export function createPlugin(server: Served, options: HandlerOptions = {}): Plugin {
  checkOptions('createPlugin', options, handlerKeys satisfies KeysOf<HandlerOptions>);
  return plugin(createEndpoint(server, options));
}
