import type { IncomingMessage, ServerResponse } from 'node:http';
import type { SessionOptions } from '../../../legacy/server/http/sessions.js';
import type { Authenticate } from '../../../protocol/caller.js';
import type { AuthProvider } from '../../../state/auth-provider.js';
import type { CloseOptions, HttpEndpoint, HttpOptions } from '../../../transports/http/server/endpoint.js';
import { NodeIncoming } from './incoming.js';

/** A request of `node:http`. */
export type NodeRequest = IncomingMessage;

/** The options of `createNodeHandler`. */
export interface NodeHandlerOptions<Req extends NodeRequest = NodeRequest>
  extends HttpOptions,
    SessionOptions {
  /** Whether clients that speak protocol revision 2025-11-25 or older are served. Default: true. */
  readonly sessions?: boolean;
  /**
   * Identifies the caller before the body is read: a provider of `fullmcp/auth`, or a function of the request, with the fields that
   * a framework has put on it. The caller is in `ctx.auth`, and tasks and sessions belong to it. If the promise takes longer than
   * 30 s, the request is refused with 503. Default: the `auth` of the server, then callers are anonymous.
   */
  readonly auth?: AuthProvider | Authenticate<Req> | undefined;
}

/** An HTTP handler for `node:http` and frameworks that expose its `req` and `res`. */
export interface NodeHandler<Req extends NodeRequest = NodeRequest> {
  /**
   * Replies to a request. Never throws: an error is a reply. The value is a promise that resolves after the reply, for frameworks that wait
   * for it; its type is void, as `http.createServer` expects it.
   */
  (
    req: Req & {
      /** The body, if a framework has parsed it already. */
      readonly body?: unknown;
    },
    res: ServerResponse,
  ): void;
  /** Turns `/ready` to 503, ends subscriptions, lets open calls finish until the deadline, and refuses new ones. */
  readonly close: (options?: CloseOptions) => Promise<void>;
}

/** The endpoint on Node's own `req` and `res`: alone, or inside Express, Koa and similar frameworks. */
export function nodeHandler(endpoint: HttpEndpoint): NodeHandler {
  function handle(req: IncomingMessage & { readonly body?: unknown }, res: ServerResponse): Promise<void> {
    return new Promise((done) => endpoint.handle(new NodeIncoming(req, res, req.body), done));
  }
  return Object.assign(handle, { close: endpoint.close });
}
