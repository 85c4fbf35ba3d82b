import { json, type Template } from './template.js';

/** A server from an OpenAPI document. */
export const openapi: Template = {
  summary: 'the operations of a REST API as tools',
  firstCall: 'getItem id=1',
  cases: "{ ask: 'Tell me the name of item 1', expect: call('getItem', { id: 1 }), answer: /pear/i },",
  requests: [
    { name: 'gets an item', tool: 'getItem', arguments: { id: 1 }, expect: { contains: { name: 'Pear' } } },
  ],
  notes:
    '`openapi.json` describes the API: replace it with yours, and set the variables `API_URL` and `API_TOKEN`. Commands that start the server\npass them on with `-e API_URL -e API_TOKEN`. While `API_URL` is not set, the server starts the API of `src/demo-api.ts`, so that you can try\nit; delete that file when you have your own.',
  files: ({ name }) => ({
    'openapi.json': json(document(name)),
    'src/server.ts': `import { readFile } from 'node:fs/promises';
import { createServer } from 'fullmcp';
import { fromOpenAPI } from 'fullmcp/openapi';

const document = await readFile(new URL('../openapi.json', import.meta.url), 'utf8');
const api = await fromOpenAPI(document, {
  baseUrl: process.env['API_URL'] ?? (await demoApi()),
  credentials: { token: process.env['API_TOKEN'] ?? 'demo' },
});

export default createServer({ ...api, name: '${name}' });

/** Starts an API in this process, to try the server with. */
async function demoApi(): Promise<string> {
  console.error('API_URL is not set, so the API of src/demo-api.ts is used.');
  const { startApi } = await import('./demo-api.ts');
  return (await startApi()).url;
}
`,
    'src/demo-api.ts': `import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Starts the API of openapi.json, with one item. The process does not wait for it to end. */
export async function startApi(): Promise<{ url: string; close: () => void }> {
  const api = createServer((request, response) => {
    const isFound = request.url === '/items/1';
    response.writeHead(isFound ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isFound ? { id: 1, name: 'Pear' } : { error: 'There is no such item.' }));
  });
  api.listen(0, '127.0.0.1').unref();
  await once(api, 'listening');
  const { port } = api.address() as AddressInfo;
  return { url: \`http://127.0.0.1:\${port}\`, close: () => api.close() };
}
`,
    'test/server.test.ts': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testClient } from 'fullmcp/testing';
import { startApi } from '../src/demo-api.ts';

test('getItem returns an item of the API', async () => {
  const api = await startApi();
  process.env['API_URL'] = api.url;
  const { default: server } = await import('../src/server.ts');
  const client = await testClient(server);
  assert.deepEqual((await client.callTool('getItem', { id: 1 })).data, { id: 1, name: 'Pear' });
  await client.close();
  api.close();
});
`,
  }),
};

function document(title: string): object {
  const item = {
    type: 'object',
    properties: { id: { type: 'integer' }, name: { type: 'string' } },
    required: ['id', 'name'],
  };
  return {
    openapi: '3.1.0',
    info: { title, version: '0.1.0' },
    components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
    security: [{ token: [] }],
    paths: {
      '/items/{id}': {
        get: {
          operationId: 'getItem',
          summary: 'Get an item',
          parameters: [
            {
              name: 'id',
              in: 'path',
              description: 'The number of the item, such as 1',
              required: true,
              schema: { type: 'integer' },
            },
          ],
          responses: { 200: { description: 'The item', content: { 'application/json': { schema: item } } } },
        },
      },
    },
  };
}
