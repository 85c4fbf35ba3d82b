import { server } from './shop.js';

await server.start({ transportType: 'stdio' });
