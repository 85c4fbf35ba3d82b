// Servers of one process that find each other by name.
import { createServer, findService, listServices, registerService, serviceAvailable, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';

// #region in-process
const weather = createServer({
  name: 'weather',
  version: '1.0.0',
  tools: { forecast: tool({ description: 'The weather of tomorrow', run: () => 'Sunny' }) },
});

await using registered = await registerService(weather); // found until it is closed
await using client = await connect({ service: 'weather' });
export const { text } = await client.callTool('forecast');
// #endregion

// #region find
export const services = await listServices();
// [{ name: 'weather', version: '1.0.0', id, title, tools: ['forecast'], revisions: ['2026-07-28'],
//    transports: ['in-process'], node: 'this process', startedAt: '2026-11-17T09:00:00.000Z' }]
export const one = await findService('weather'); // the first of them with this name, or undefined
export const isThere = await serviceAvailable('weather'); // true
// #endregion

export const { service } = registered;
