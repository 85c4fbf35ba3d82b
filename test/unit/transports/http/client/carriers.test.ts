import { nodeCarrier } from '../../../../../src/adapters/node/client/carrier.js';
import { overFetch } from '../../../../../src/transports/http/client/over-fetch.js';
import { httpCarrierContract } from '../../../../support/http/carrier-contract.js';
import { leaveNothingBehind } from '../../../../support/leaks.js';

leaveNothingBehind({ everyTimer: false });

httpCarrierContract('node:http', (url) => nodeCarrier(url, {}));
httpCarrierContract('fetch', () => overFetch());
