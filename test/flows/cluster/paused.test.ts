import { describeOnNats, describeOnPostgres, describeOnRedis } from './engines.js';
import { pausedTable } from './tables/paused.js';

const work = { SERVERS: 'work', LEASE_MS: '2000' };
// The clock of one replica is an hour fast, and that of another one an hour slow. Processes that share a folder of LMDB have one clock.
const skewed = { ...work, SKEWS: '3600000 -3600000 0' };
describeOnNats('replicas on NATS, with an LMDB store, of which one is paused', pausedTable, work);
describeOnPostgres('replicas on Postgres with different clocks, of which one is paused', pausedTable, skewed);
describeOnRedis('replicas on Redis, of which one is paused', pausedTable, work);
