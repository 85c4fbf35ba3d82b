import { describeOnRedis } from './engines.js';
import { replicaFlows } from './tables/replicas.js';

describeOnRedis('three replicas that share Redis', replicaFlows);
