import type { IncomingMessage, ServerResponse } from 'node:http';
import type { SessionOptions } from '../../legacy/http.js';
import type { Authenticate } from '../../protocol/caller.js';
import type { HttpEndpoint, HttpOptions } from '../../transports/http/endpoint.js';
import { NodeIncoming } from './incoming.js';

export type NodeRequest = IncomingMessage;

export interface NodeHandlerOptions<Req extends NodeRequest = NodeRequest>
  extends HttpOptions,
    SessionOptions {
  /** Whether clients of 2025 and before are served. They are. */
  readonly sessions?: boolean;
  /** Says who sent a request, before its body is read: from its headers, or from what a framework has put on it. */
  readonly auth?: Authenticate<Req> | undefined;
}

export interface NodeHandler<Req extends NodeRequest = NodeRequest> {
  /** A body that a framework has parsed already may be on `req.body`. */
  (req: Req & { readonly body?: unknown }, res: ServerResponse): Promise<void>;
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
