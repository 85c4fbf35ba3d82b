import { type Plugin, plugin } from './adapters/fastify/plugin.js';
import { createEndpoint, type HandlerOptions } from './http.js';
import type { Server } from './server/create-server.js';

export type { Plugin } from './adapters/fastify/plugin.js';

/** A Fastify plugin: `app.register(createPlugin(server), { prefix: '/mcp' })`. */
export function createPlugin(server: Pick<Server, 'dispatch'>, options: HandlerOptions = {}): Plugin {
  return plugin(createEndpoint(server, options));
}
