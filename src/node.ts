// The entry `fullmcp/node`: serves over HTTP on Node.

import { environmentSecrets } from './adapters/node/config/environment.js';
import {
  configOf,
  type OuterOptions,
  outerOptions,
  withOuter,
} from './adapters/node/config/outer-options.js';
import {
  type NodeHandler,
  type NodeHandlerOptions,
  type NodeRequest,
  nodeHandler,
} from './adapters/node/server/handler.js';
import { checkServeOptions, type ServeOptions, withOwnHost } from './adapters/node/server/options.js';
import { type Serving, serveOnNode, urlOf } from './adapters/node/server/serve.js';
import { upgrades } from './adapters/node/server/upgrades.js';
import {
  isWorker,
  primaryCluster,
  releasePrimary,
  serveWithWorkers,
  settingsOfPrimary,
  type WorkersOptions,
} from './adapters/node/workers/workers.js';
import { createEndpoint, type DispatchSource, protect, withPublicUrl } from './http.js';
import { channelSession } from './legacy/server/channel-session.js';
import { checkHandlerOptions } from './legacy/server/http/handler-options.js';
import { timerMs } from './protocol/checks/options.js';
import { checkRuntime } from './protocol/checks/runtime.js';
import type { CoreServer } from './server/build/core-server.js';
import type { Logger } from './server/state/log.js';
import type { Cluster } from './state/cluster.js';
import { serveOverWebSocket } from './transports/websocket/accept.js';

checkRuntime();

export type { AuditFileOptions } from './adapters/node/audit/audit-file.js';
export { auditFile, verifyAuditFile } from './adapters/node/audit/audit-file.js';
export type { NodeHandler, NodeHandlerOptions } from './adapters/node/server/handler.js';
export type { ServeOptions } from './adapters/node/server/options.js';
export type { Serving } from './adapters/node/server/serve.js';
export type { TlsOptions } from './adapters/node/server/tls.js';
export type { AuditReport } from './middleware/audit/verify.js';
export type { AuditSink } from './middleware/audit/writer.js';

/**
 * Listens on Node for HTTP and WebSocket. Options that are not given come from the environment (`PORT`, `MCP_HOST` and
 * others), then from the file `config`, then from the defaults.
 *
 * @example
 * const serving = await serve(server, { port: 3000 });
 * console.log(`Listening on ${serving.url}`);
 * await serving.closed;
 */
export async function serve(server: ServedServer, options: ServeOptions = {}): Promise<Serving> {
  checkServeOptions(options);
  const outer = await outerOf(server, options);
  const effective = withPublicUrl(server, withOwnHost(withOuter(options, outer)));
  const { path = '/mcp', websocket = {}, workers, clusterUrl, logLevel, logFormat } = effective;
  server.provideLog?.({
    ...(logLevel !== undefined && { level: logLevel }),
    ...(logFormat !== undefined && { format: logFormat }),
  });
  if (workers !== undefined && !isWorker())
    return servePrimary(server, effective, { count: workers, settings: outer });
  if (clusterUrl) server.provideCluster?.(await clusterAt(clusterUrl));
  if (isWorker()) server.provideCluster?.(primaryCluster());
  const { dispatch } = server;
  const log: Logger = (...message) => server.logger?.(...message);
  const warn = (message: string): void => log('warning', message);
  const edge = protect(server, { ...effective, path });
  return serveOnNode(
    {
      endpoint: createEndpoint(server, { ...effective, path }, edge),
      upgrades:
        websocket === false
          ? undefined
          : upgrades(
              (socket, caller, watch) =>
                serveOverWebSocket(
                  { dispatch, session: (send) => channelSession(dispatch, send), caller, watch },
                  socket,
                  websocket,
                ),
              {
                ...effective,
                protectedBy: edge?.auth,
                warn,
                ...websocket,
                path,
              },
            ),
      async start() {
        await server.start();
        await edge?.auth.start();
      },
      drain: server.drain,
      async stop() {
        await server.close();
        if (isWorker()) releasePrimary();
      },
      log,
    },
    effective,
  );
}

type ServedServer = DispatchSource &
  Pick<CoreServer, 'start' | 'close'> &
  Partial<Pick<CoreServer, 'drain' | 'provideCluster' | 'provideLog'>>;

/** Starts workers that run this program again. This process only keeps them running, and the state that they share. */
async function servePrimary(
  server: ServedServer,
  options: ServeOptions,
  { count, settings }: Pick<WorkersOptions, 'count' | 'settings'>,
): Promise<Serving> {
  const { drainMs = 5000, shutdownDelayMs = 0, signals = true, exit = true } = options;
  const serving = await serveWithWorkers({
    count,
    settings,
    needsSecret: options.secret === undefined,
    urlOf: (port) => urlOf(options, port),
    closeMs: timerMs(shutdownDelayMs) + timerMs(drainMs) + 5000,
    signals,
    exit,
    log: (...message) => server.logger?.(...message),
  });
  void serving.closed.then(() => server.close());
  return serving;
}

const engines: Readonly<Record<string, (url: string) => Promise<Cluster>>> = {
  'postgres:': async (url) => (await import('./postgres.js')).postgres({ url }),
  'postgresql:': async (url) => (await import('./postgres.js')).postgres({ url }),
  'redis:': async (url) => (await import('./redis.js')).redis({ url }),
  'rediss:': async (url) => (await import('./redis.js')).redis({ url }),
  'valkey:': async (url) => (await import('./redis.js')).redis({ url: url.replace('valkey:', 'redis:') }),
  'nats:': async (url) => (await import('./nats.js')).nats({ url }),
  'tls:': async (url) => (await import('./nats.js')).nats({ url }),
};

/** The engine at a URL. The error never shows the URL, which may have a password. */
async function clusterAt(url: string): Promise<Cluster> {
  const protocol = URL.canParse(url) ? new URL(url).protocol : '';
  const open = Object.hasOwn(engines, protocol) ? engines[protocol] : undefined;
  if (open !== undefined) return open(url);
  throw new TypeError(
    'The environment variable MCP_CLUSTER_URL, or "clusterUrl", must be a URL that begins with postgres://, redis:// or nats://.',
  );
}

/** The options from outside of the program. A worker has those of its primary process, even if the config file has changed since. */
async function outerOf(server: ServedServer, options: ServeOptions): Promise<OuterOptions> {
  const { env } = globalThis.process;
  if (isWorker()) {
    const sent = await settingsOfPrimary();
    // A program may serve several servers, each with a config of its own.
    if (sent.config === configOf(options, env))
      return { ...sent, options: { secret: environmentSecrets(env), ...sent.options } };
  }
  const { warnings, ...outer } = await outerOptions(options, env);
  for (const warning of warnings) server.logger?.('warning', warning);
  return outer;
}

/**
 * Makes an HTTP handler for `node:http`, Express, Koa and other frameworks that expose its `req` and `res`.
 *
 * @example
 * const app = express();
 * app.use('/mcp', createNodeHandler(server));
 * app.listen(3000);
 */
export function createNodeHandler<Req extends NodeRequest = NodeRequest>(
  server: DispatchSource,
  options: NodeHandlerOptions<Req> = {},
): NodeHandler<Req> {
  checkHandlerOptions('createNodeHandler', options);
  return nodeHandler(createEndpoint(server, options));
}
