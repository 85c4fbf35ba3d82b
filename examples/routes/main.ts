import { connect } from 'fullmcp/client';
import { honoApp } from './apps.js';
import { others, server } from './server.js';

// Calls the routes of apps as tools. No port is opened.

const client = await connect(server);
for await (const { name } of client.tools()) console.log('tool', name);
console.log('read', (await client.callTool('readOrder', { id: '1' })).text);
console.log('placed', (await client.callTool('placeOrder', { item: 'Cake' })).text);
console.log('missing', (await client.callTool('readOrder', { id: '9' })).text);
await client.close();

const reply = await honoApp.request('/orders/2');
console.log('the app', await reply.text());

const stock = await connect(others.stock);
console.log('stock', (await stock.callTool('readStock', { article: 'Tea' })).text);
await stock.close();

const rates = await connect(others.rates);
console.log('rate', (await rates.callTool('get_rates_currency', { currency: 'EUR' })).text);
await rates.close();
