import { connect } from 'fullmcp/client';
import { describeOnNats } from './engines.js';
import { answering, ownClientTable } from './tables/own-client.js';

describeOnNats(
  'three replicas that are services on NATS',
  (replicas, natsUrl) =>
    ownClientTable(replicas, [
      {
        name: 'NATS',
        connect: (options) => connect(`${natsUrl()}/work`, { ...answering, ...options }),
        isBalanced: false,
        hasElicitation: true,
        hasTasks: true,
        hasSessions: false,
      },
    ]),
  { LINK: 'yes' },
);
