// The entry `fullmcp/fastify`: serves over HTTP inside Fastify.

import { type AppRequest, type Plugin, plugin } from './adapters/fastify/plugin.js';
import { createEndpoint, type DispatchSource, type EndpointOptions } from './http.js';
import { checkHandlerOptions } from './legacy/server/http/handler-options.js';
import type { Authenticate } from './protocol/caller.js';
import type { AuthProvider } from './state/auth-provider.js';

export type { AppRequest, Plugin } from './adapters/fastify/plugin.js';

/** The options of `createPlugin`. */
export interface PluginOptions<Req extends AppRequest = AppRequest> extends EndpointOptions {
  /**
   * Identifies the caller before the body is read: a provider of `fullmcp/auth`, or a function of Fastify's request, with the fields
   * that hooks have put on it. The caller is in `ctx.auth`, and tasks and sessions belong to it. If the promise takes longer than
   * 30 s, the request is refused with 503. Default: the `auth` of the server, then callers are anonymous.
   */
  readonly auth?: AuthProvider | Authenticate<Req> | undefined;
}

/**
 * Makes a Fastify plugin that serves over HTTP on its prefix. It closes with the app; close the server yourself.
 *
 * @example
 * const app = fastify();
 * await app.register(createPlugin(server), { prefix: '/mcp' });
 * await app.listen({ port: 3000 });
 */
export function createPlugin<Req extends AppRequest = AppRequest>(
  server: DispatchSource,
  options: PluginOptions<Req> = {},
): Plugin {
  checkHandlerOptions('createPlugin', options);
  return plugin(createEndpoint(server, options));
}
