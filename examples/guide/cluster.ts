import { createServer, tool } from 'fullmcp';
import { lmdbStore } from 'fullmcp/lmdb';
import { nats } from 'fullmcp/nats';
import { serve } from 'fullmcp/node';
import { postgres } from 'fullmcp/postgres';
import { redis } from 'fullmcp/redis';

const definition = {
  name: 'orders',
  version: '1.0.0',
  tools: { ship: tool({ task: 'optional', run: (_input, ctx) => ctx.step('ship', () => 'shipped') }) },
};

// #region postgres
/** Any number of processes, on any number of machines. */
export async function replica(url: string): Promise<void> {
  const server = createServer({ ...definition, cluster: postgres({ url }) });
  await serve(server);
}
// #endregion

// #region redis
/** The same on Redis or Valkey. */
export async function replicaOnRedis(url: string): Promise<void> {
  const server = createServer({ ...definition, cluster: redis({ url }) });
  await serve(server);
}
// #endregion

// #region nats
/** NATS connects the processes; the tasks are in a store of their own. */
export async function replicaOnNats(url: string, folder: string): Promise<void> {
  const server = createServer({ ...definition, cluster: nats({ url }), store: lmdbStore(folder) });
  await serve(server);
}
// #endregion

// #region workers
/** One machine, all its processors, no engine. */
export async function allProcessors(): Promise<void> {
  await serve(createServer(definition), { workers: 'auto' });
}
// #endregion
