import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { describeWithNats, startNats } from '../../support/engines/nats.js';
import { describeWithPostgres } from '../../support/engines/postgres.js';
import { describeWithRedis, startRedis } from '../../support/engines/redis.js';
import { type ReplicaSet, startReplicaSet } from './replica-set.js';

type Tests = (replicas: () => ReplicaSet) => void;
type Env = Readonly<Record<string, string>>;

/** Runs tests with three replicas that share Postgres. */
export function describeOnPostgres(name: string, tests: Tests, more: Env = {}): void {
  describeWithPostgres(name, (server) =>
    tests(
      useReplicas(async () => ({
        env: { MCP_CLUSTER_URL: server().url, ...more },
        stop: async () => undefined,
      })),
    ),
  );
}

/** Runs tests with three replicas that share Redis. */
export function describeOnRedis(name: string, tests: Tests, more: Env = {}): void {
  describeWithRedis(name, () =>
    tests(
      useReplicas(async () => {
        const server = await startRedis();
        return { env: { MCP_CLUSTER_URL: server.url, ...more }, stop: () => server.stop() };
      }),
    ),
  );
}

/** Runs tests with three replicas that share NATS, and an LMDB store for what NATS is not. */
export function describeOnNats(
  name: string,
  tests: (replicas: () => ReplicaSet, natsUrl: () => string) => void,
  more: Env = {},
): void {
  describeWithNats(name, () => {
    let url = '';
    const replicas = useReplicas(async () => {
      const server = await startNats();
      url = server.url;
      const store = mkdtempSync(join(tmpdir(), 'fullmcp-replicas-store-'));
      return {
        env: { MCP_CLUSTER_URL: url, STORE: store, ...more },
        async stop() {
          await server.stop();
          rmSync(store, { recursive: true, force: true });
        },
      };
    });
    tests(replicas, () => url);
  });
}

interface RunningEngine {
  /** The environment of the replicas. */
  readonly env: Env;
  readonly stop: () => Promise<unknown>;
}

function useReplicas(start: () => Promise<RunningEngine>): () => ReplicaSet {
  let engine: RunningEngine | undefined;
  let replicas: ReplicaSet | undefined;
  beforeAll(async () => {
    engine = await start();
    replicas = await startReplicaSet(engine.env);
  }, 60_000);
  afterAll(async () => {
    try {
      await replicas?.close();
    } finally {
      await engine?.stop();
    }
  }, 60_000);
  return () => replicas as ReplicaSet;
}
