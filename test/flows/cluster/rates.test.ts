import { describeOnNats, describeOnPostgres, describeOnRedis } from './engines.js';
import { rateTable } from './tables/rates.js';

// The rate is right although the clocks of two replicas are ten minutes off: only that of the engine counts.
const skewed = { SERVERS: 'limited', SKEWS: '0 600000 -600000' };

describeOnRedis('three replicas that share a rate through Redis', (replicas) => rateTable(replicas), skewed);
describeOnPostgres(
  'three replicas that share a rate through Postgres',
  (replicas) => rateTable(replicas),
  skewed,
);
describeOnNats(
  'three replicas that share a rate through LMDB, beside NATS',
  (replicas) => rateTable(replicas, { isEngineApart: false }),
  { SERVERS: 'limited' },
);
