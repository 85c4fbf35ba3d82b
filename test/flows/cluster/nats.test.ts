import { describeOnNats } from './engines.js';
import { replicaFlows } from './tables/replicas.js';

describeOnNats('three replicas that share NATS, with an LMDB store', replicaFlows);
