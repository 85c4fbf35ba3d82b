import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpEndpoint } from '../../transports/http/server/endpoint.js';
import { NodeIncoming } from '../node/server/incoming.js';

/** A plugin for `app.register`. It serves on the prefix that it is registered with. */
export type Plugin = (app: App) => Promise<void>;

/** The part of a Fastify app that is needed here. Fastify's own types are not used, so that users need not install them. */
interface App {
  removeAllContentTypeParsers(): void;
  addContentTypeParser(
    type: string,
    parser: (request: unknown, payload: unknown, done: (error: null) => void) => void,
  ): unknown;
  all(
    path: string,
    options: object,
    handler: (request: AppRequest, reply: AppReply) => Promise<void>,
  ): unknown;
  addHook(name: 'preClose', hook: () => Promise<void>): unknown;
}

/** The part of Fastify's request that the plugin uses. */
export interface AppRequest {
  /** The request of `node:http`. */
  readonly raw: IncomingMessage;
}

interface AppReply {
  readonly raw: ServerResponse;
  hijack(): unknown;
}

/** Makes a Fastify plugin that serves the endpoint, behind the app's hooks. */
export function plugin(endpoint: HttpEndpoint): Plugin {
  return async function mcp(app) {
    // Fastify leaves the body unread: the endpoint handles its limit, type and errors. This affects only the plugin's own scope.
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', (_request, _payload, done) => done(null));
    const serve = async (request: AppRequest, reply: AppReply): Promise<void> => {
      reply.hijack();
      const incoming = new NodeIncoming(request.raw, reply.raw, undefined, request);
      await new Promise<void>((done) => endpoint.handle(incoming, done));
    };
    // The endpoint is not an operation of the app's own API.
    const options = { schema: { hide: true } };
    app.all('/', options, serve);
    app.all('/*', options, serve);
    // Close before Fastify waits for its connections to end: an open stream never ends on its own.
    app.addHook('preClose', () => endpoint.close());
  };
}
