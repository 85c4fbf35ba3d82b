// The entry `fullmcp/node`: serves over HTTP on Node.

import {
  type NodeHandler,
  type NodeHandlerOptions,
  type NodeRequest,
  nodeHandler,
} from './adapters/node/server/handler.js';
import {
  checkServeOptions,
  type ServeOptions,
  withEnvironment,
  withOwnHost,
} from './adapters/node/server/options.js';
import { type Serving, serveOnNode } from './adapters/node/server/serve.js';
import { upgrades } from './adapters/node/server/upgrades.js';
import { authenticator, createEndpoint, type DispatchSource } from './http.js';
import { foreignHandlerNames, handlerKeys } from './legacy/server/http/handler-keys.js';
import { checkOptions, type KeysOf } from './protocol/checks/known-keys.js';
import { checkRuntime } from './protocol/checks/runtime.js';
import type { CoreServer } from './server/create-server.js';
import { serveWebSocket } from './websocket.js';

checkRuntime(globalThis.process?.versions);

export type { NodeHandler, NodeHandlerOptions } from './adapters/node/server/handler.js';
export type { ServeOptions } from './adapters/node/server/options.js';
export type { Serving } from './adapters/node/server/serve.js';

/**
 * Listens on Node for HTTP and WebSocket. Options that are not given come from the environment (`PORT`, `MCP_HOST` and
 * others), then from the defaults.
 *
 * @example
 * const serving = await serve(server, { port: 3000 });
 * console.log(`Listening on ${serving.url}`);
 * await serving.closed;
 */
export async function serve(
  server: DispatchSource & Pick<CoreServer, 'start' | 'close'> & Partial<Pick<CoreServer, 'drain'>>,
  options: ServeOptions = {},
): Promise<Serving> {
  checkServeOptions(options);
  const effective = withOwnHost(withEnvironment(options));
  const { path = '/mcp', websocket = {} } = effective;
  return serveOnNode(
    {
      endpoint: createEndpoint(server, { ...effective, path }),
      upgrades:
        websocket === false
          ? undefined
          : upgrades((socket, caller) => serveWebSocket(server, socket, { ...websocket, ...caller }), {
              ...effective,
              authenticate: authenticator(server, effective.auth),
              warn: (message) => server.logger?.('warning', message),
              ...websocket,
              path,
            }),
      start: server.start,
      drain: server.drain,
      stop: server.close,
    },
    effective,
  );
}

/**
 * Makes an HTTP handler for `node:http`, Express, Koa and other frameworks that expose its `req` and `res`.
 *
 * @example
 * const app = express();
 * app.all('/mcp', createNodeHandler(server));
 * app.listen(3000);
 */
export function createNodeHandler<Req extends NodeRequest = NodeRequest>(
  server: DispatchSource,
  options: NodeHandlerOptions<Req> = {},
): NodeHandler<Req> {
  checkOptions(
    'createNodeHandler',
    options,
    handlerKeys satisfies KeysOf<NodeHandlerOptions>,
    foreignHandlerNames,
  );
  return nodeHandler(createEndpoint(server, options));
}
