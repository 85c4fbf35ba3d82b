import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpEndpoint } from '../../transports/http/endpoint.js';
import { NodeIncoming } from './incoming.js';

export interface NodeHandler {
  /** A body that a framework has parsed already may be on `req.body`. */
  (req: IncomingMessage & { readonly body?: unknown }, res: ServerResponse): Promise<void>;
  /** Ends subscriptions, lets open calls finish until the deadline, and refuses new ones. */
  readonly close: (options?: { readonly deadlineMs?: number }) => Promise<void>;
}

/** The endpoint on Node's own `req` and `res`: alone, or inside Express, Fastify, Koa and their like. */
export function nodeHandler(endpoint: HttpEndpoint): NodeHandler {
  function handle(req: IncomingMessage & { readonly body?: unknown }, res: ServerResponse): Promise<void> {
    return endpoint.handle(new NodeIncoming(req, res, req.body));
  }
  return Object.assign(handle, { close: endpoint.close });
}
