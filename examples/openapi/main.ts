import { connect } from 'fullmcp/client';
import { server, servers, shop } from './server.js';

// Calls the tools that were made from the document, and prints what they return.

const client = await connect(server);
for await (const { name, annotations } of client.tools())
  console.log('tool', name, JSON.stringify(annotations));
for await (const { uriTemplate } of client.templates()) console.log('template', uriTemplate);
console.log('open', JSON.stringify((await client.callTool('listOrders', { status: ['open'] })).data));
console.log('changed', (await client.callTool('changeOrder', { id: 1, status: 'paid' })).text);
console.log('read', (await client.readResource('api://shop/orders/1')).text);
console.log('failed', (await client.callTool('changeOrder', { id: 7, status: 'paid' })).text);
await client.close();

const anonymous = await connect(servers.perCaller);
console.log('anonymous', (await anonymous.callTool('listOrders')).text);
await anonymous.close();

const own = await connect(servers.withOwn);
console.log(
  'own',
  (await own.tools().all())
    .map(({ name }) => name)
    .sort()
    .join(' '),
);
await own.close();

const trimmed = await connect(servers.trimmed);
console.log('trimmed', (await trimmed.callTool('listOrders')).text);
await trimmed.close();
shop.close();
