import { type Plugin, plugin } from './adapters/fastify/plugin.js';
import { createEndpoint, type HandlerOptions, type Served } from './http.js';

export type { Plugin } from './adapters/fastify/plugin.js';

/** A Fastify plugin: `app.register(createPlugin(server), { prefix: '/mcp' })`. */
export function createPlugin(server: Served, options: HandlerOptions = {}): Plugin {
  return plugin(createEndpoint(server, options));
}
