import { describeOnNats, describeOnPostgres, describeOnRedis } from './engines.js';
import { killedTable } from './tables/killed.js';

const work = { SERVERS: 'work', LEASE_MS: '3000' };
describeOnNats('replicas on NATS, with an LMDB store, of which one is killed', killedTable, work);
describeOnPostgres('replicas on Postgres, of which one is killed', killedTable, work);
describeOnRedis('replicas on Redis, of which one is killed', killedTable, work);
