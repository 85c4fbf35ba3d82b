import { spawnSync } from 'node:child_process';
import process from 'node:process';
import { startNats } from '../../../support/engines/nats.js';
import { startPostgres } from '../../../support/engines/postgres.js';
import { startRedis } from '../../../support/engines/redis.js';

/** An engine that a test takes down and starts again. */
interface Engine {
  readonly port: number;
  /** The URL of the engine on its own port, or on that of a proxy. */
  readonly urlAt: (port: number) => string;
  /** Ends the engine in an orderly way. */
  readonly shutDown: () => Promise<void>;
  /** Ends the engine at once. */
  readonly kill: () => Promise<void>;
  /** Starts the engine again, with its data. */
  readonly start: () => Promise<void>;
  /** Ends the engine and removes its data. */
  readonly remove: () => Promise<void>;
}

/** An engine that tests run on. */
export interface EngineKind {
  readonly name: string;
  /** Whether the engine keeps tasks and idempotency keys. NATS does not, so the replicas have a store besides it. */
  readonly isStore: boolean;
  readonly start: () => Promise<Engine>;
}

const all: readonly (EngineKind & { readonly command: readonly [string, ...string[]] })[] = [
  {
    name: 'Postgres',
    isStore: true,
    command: ['sh', '-c', 'ls /usr/lib/postgresql/*/bin/postgres || which postgres'],
    async start() {
      const server = await startPostgres();
      const { port, kill, start, remove, stop: shutDown } = server;
      return {
        ...{ port, kill, start, remove, shutDown },
        urlAt: (at) => `postgres://postgres@127.0.0.1:${at}/postgres`,
      };
    },
  },
  {
    name: 'Redis',
    isStore: true,
    command: ['redis-server', '--version'],
    async start() {
      // With any other setting, a crash of Redis can lose writes that it has acknowledged.
      const server = await startRedis({ settings: { appendfsync: 'always' } });
      return {
        port: server.port,
        urlAt: (at) => `redis://127.0.0.1:${at}`,
        kill: () => server.kill(),
        shutDown: () => server.shutDown(),
        start: () => server.start(),
        remove: () => server.stop(),
      };
    },
  },
  {
    name: 'NATS',
    isStore: false,
    command: ['nats-server', '--version'],
    async start() {
      const { port, kill, shutDown, start, stop: remove } = await startNats();
      return { port, kill, shutDown, start, remove, urlAt: (at) => `nats://127.0.0.1:${at}` };
    },
  },
];

/** The engines of this machine. One that is missing is left out with a warning; on CI its tests fail. */
export const engines: readonly EngineKind[] = all.filter(({ name, command: [file, ...args] }) => {
  const isThere = spawnSync(file, args).status === 0 || process.env['CI'] !== undefined;
  if (!isThere) console.warn(`SKIPPED, because ${name} is not installed: the tests of outages on ${name}`);
  return isThere;
});
