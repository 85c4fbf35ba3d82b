import { createServer as createHttpServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Server } from 'fullmcp';
import { nodeHandler } from '../../../src/adapters/node/server/handler.js';
import { httpSessions, type SessionParts } from '../../../src/legacy/server/http/sessions.js';
import type { Auth } from '../../../src/protocol/call.js';
import { toMcpError } from '../../../src/protocol/errors.js';
import type { AuthRequest } from '../../../src/state/auth-provider.js';
import { AuthRun } from '../../../src/state/auth-run.js';
import { type Bus, memoryBus } from '../../../src/state/bus.js';
import type { EventLog } from '../../../src/state/event-log.js';
import { memoryEventLog } from '../../../src/state/memory/event-log.js';
import { memoryStore } from '../../../src/state/memory/store.js';
import type { Store } from '../../../src/state/store.js';
import { EdgeAuth } from '../../../src/transports/http/server/auth/edge-auth.js';
import { httpEndpoint } from '../../../src/transports/http/server/endpoint.js';

// Several servers with a shared store, bus and event log behind an alternating proxy, in one process.

interface Replica {
  /** The URL of this server alone. */
  readonly url: string;
  readonly server: Server;
  readonly warnings: string[];
  /** Ends the server as SIGKILL would: its connections break, and nothing of it reaches the others any more. */
  readonly kill: () => Promise<void>;
  /** Stops the server as SIGTERM would. */
  readonly close: () => Promise<void>;
}

export interface Replicas {
  /** Each request to this URL goes to the next server. */
  readonly url: string;
  readonly replicas: readonly Replica[];
  readonly store: Store;
  readonly bus: Bus;
  readonly log: EventLog;
  readonly close: () => Promise<void>;
}

export interface ReplicasOptions extends Pick<SessionParts, 'askMs' | 'leaseMs' | 'sessionMaxAgeMs'> {
  readonly count?: number;
  readonly secret?: string;
  readonly store?: Store;
  readonly bus?: Bus;
  readonly log?: EventLog;
  readonly requestTimeoutMs?: number;
  /** Whether the server does not know that it has replicas, as one without a cluster. */
  readonly isAlone?: boolean;
  /** Identifies the caller of a request by a header. */
  readonly hasUsers?: boolean;
}

const SECRET = 'a secret that all processes of the test share';

export async function startReplicas(
  build: (at: number) => Server,
  options: ReplicasOptions = {},
): Promise<Replicas> {
  const { count = 2, store = memoryStore(), bus = memoryBus(), log = memoryEventLog() } = options;
  const parts = { ...options, store, bus, log };
  const replicas = await Promise.all(
    Array.from({ length: count }, (_, at) => startReplica(build(at), parts)),
  );
  let next = 0;
  const dead = new Set<number>();
  const proxy = createHttpServer((req, res) => {
    do next = (next + 1) % count;
    while (dead.has(next) && dead.size < count);
    replicas[next]?.handle(req, res);
  });
  const url = await listen(proxy);
  return {
    url,
    store,
    bus,
    log,
    replicas: replicas.map(({ replica, kill }, at) => ({
      ...replica,
      kill: async () => {
        dead.add(at);
        await kill();
      },
    })),
    async close() {
      proxy.closeAllConnections();
      proxy.close();
      await Promise.all(replicas.map(({ replica }) => replica.close()));
      await store.close();
    },
  };
}

async function startReplica(
  server: Server,
  options: ReplicasOptions & { readonly store: Store; readonly bus: Bus; readonly log: EventLog },
) {
  const warnings: string[] = [];
  const life = { isDead: false };
  const { secret = SECRET, askMs, leaseMs, sessionMaxAgeMs, requestTimeoutMs } = options;
  const { hasUsers = false, isAlone = false } = options;
  const store = mortal(options.store, life);
  const bus = mortal(options.bus, life);
  const eventLog = mortal(options.log, life);
  const sessions = httpSessions(server.dispatch, {
    secret,
    ...(askMs !== undefined && { askMs }),
    ...(leaseMs !== undefined && { leaseMs }),
    ...(sessionMaxAgeMs !== undefined && { sessionMaxAgeMs }),
    retryMs: 10,
    shared: { server: 'replicated', store, bus: () => (isAlone ? undefined : bus), eventLog: () => eventLog },
    warn: (message) => void warnings.push(message),
  });
  server.provideSecret(secret);
  const endpoint = httpEndpoint(
    server.dispatch,
    {
      path: '/mcp',
      ...(requestTimeoutMs !== undefined && { requestTimeoutMs }),
      protectedBy: hasUsers ? byHeader() : undefined,
    },
    sessions,
  );
  const handle = nodeHandler(endpoint);
  const sockets = createHttpServer((req, res) => void handle(req, res));
  const url = await listen(sockets);
  const open = new Set<import('node:http').ServerResponse>();
  const replica = {
    url,
    server,
    warnings,
    async close() {
      sockets.close();
      if (!life.isDead) await handle.close({ deadlineMs: 50 });
      sockets.closeAllConnections();
      await server.close();
    },
  };
  return {
    replica,
    handle(req: import('node:http').IncomingMessage, res: import('node:http').ServerResponse): void {
      open.add(res);
      res.on('close', () => open.delete(res));
      void handle(req, res);
    },
    async kill() {
      life.isDead = true;
      sockets.closeAllConnections();
      for (const res of open) res.destroy();
      sockets.close();
    },
  };
}

/** A part that neither does anything nor says anything once its process is dead. */
function mortal<T extends object>(part: T, life: { readonly isDead: boolean }): T {
  const wrapped = Object.entries(part).map(([name, method]) => [
    name,
    (...args: unknown[]) => {
      if (life.isDead) return new Promise(() => undefined);
      const result = (method as (...all: unknown[]) => Promise<unknown>)(...args);
      return result.then(
        (value) => (life.isDead ? new Promise(() => undefined) : value),
        (error: unknown) => (life.isDead ? new Promise(() => undefined) : Promise.reject(error)),
      );
    },
  ]);
  return Object.fromEntries(wrapped) as T;
}

async function listen(server: HttpServer): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

function byHeader(): EdgeAuth {
  const check = async ({ header }: AuthRequest): Promise<Auth | undefined> => {
    const subject = header('x-user');
    return subject === undefined ? undefined : { subject, scopes: [], claims: {} };
  };
  const context = (): never => {
    throw new Error('This provider is not started.');
  };
  return new EdgeAuth({
    path: '/mcp',
    source: new AuthRun({ check, optional: true }, context),
    mask: (error) => toMcpError(error),
  });
}
