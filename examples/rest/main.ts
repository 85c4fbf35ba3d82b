import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { toOpenAPI } from 'fullmcp/rest';
import { app, server } from './server.js';

// Calls the tools of the server over plain HTTP, in a Hono app and on Node, and prints the paths of its document.

process.env['PORT'] = '0';
const { listener } = await import('./node.js');
if (!listener.listening) await once(listener, 'listening');
const { port } = listener.address() as AddressInfo;

async function post(path: string, body?: object): Promise<string> {
  const init = body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const reply = await app.request(path, { method: 'POST', ...init });
  return `${reply.status} ${await reply.text()}`;
}

console.log('read', await post('/api/tools/read_order', { id: '1' }));
console.log('greet', await post('/api/tools/greet'));
console.log('missing', await post('/api/tools/read_order', { id: '9' }));
console.log('wrong', await post('/api/tools/read_order', {}));
const onNode = await fetch(`http://127.0.0.1:${port}/api/tools/greet`, { method: 'POST' });
console.log('node', await onNode.text());
listener.close();

// #region document
const document = await toOpenAPI(server, { url: 'https://shop.example.com/api' });
console.log(Object.keys(document['paths'] as object)); // [ '/tools/read_order', '/tools/greet' ]
// #endregion
