import { type NodeHandler, nodeHandler } from './adapters/node/handler.js';
import {
  checkServeOptions,
  type ServeOptions,
  withEnvironment,
  withOwnHost,
} from './adapters/node/options.js';
import { type Serving, serveOnNode } from './adapters/node/serve.js';
import { upgrades } from './adapters/node/upgrades.js';
import { createEndpoint, type HandlerOptions, type Served } from './http.js';
import { handlerKeys } from './legacy/handler-keys.js';
import { checkOptions, type KeysOf } from './protocol/known-keys.js';
import type { Server } from './server/create-server.js';
import { serveWebSocket } from './websocket.js';

export type { NodeHandler } from './adapters/node/handler.js';
export type { ServeOptions } from './adapters/node/options.js';
export type { Serving } from './adapters/node/serve.js';

/** Serves over HTTP and WebSocket on Node. Options that are not given come from the environment, then from sense. */
export async function serve(
  server: Served & Pick<Server, 'start' | 'close'>,
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
          : upgrades((socket) => serveWebSocket(server, socket, websocket), {
              ...effective,
              ...websocket,
              path,
            }),
      start: server.start,
      stop: server.close,
    },
    effective,
  );
}

/** A handler for `node:http` and the frameworks that hand out its `req` and `res`. */
export function createNodeHandler(server: Served, options: HandlerOptions = {}): NodeHandler {
  checkOptions('createNodeHandler', options, handlerKeys satisfies KeysOf<HandlerOptions>);
  return nodeHandler(createEndpoint(server, options));
}
