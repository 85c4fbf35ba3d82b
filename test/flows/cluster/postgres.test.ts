import { describeOnPostgres } from './engines.js';
import { replicaFlows } from './tables/replicas.js';

describeOnPostgres('three replicas that share Postgres', replicaFlows);
