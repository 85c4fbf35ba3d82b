import { json, type Template } from './template.js';

/** A server from an OpenAPI document. */
export const openapi: Template = {
  summary: 'the operations of a REST API as tools',
  firstCall: 'getItem id=1',
  notes:
    '`openapi.json` describes the API: replace it with yours. The API is expected at http://127.0.0.1:8080, or at the URL of the variable\n`API_URL`; its token is read from `API_TOKEN`. Commands that start the\nserver pass these variables on with `-e API_URL -e API_TOKEN`. `node --import jiti/register test/api.ts 8080` starts an API to try it with.',
  files: ({ name }) => ({
    'openapi.json': json(document(name)),
    'src/server.ts': `import { readFile } from 'node:fs/promises';
import { createServer } from 'fullmcp';
import { fromOpenAPI } from 'fullmcp/openapi';

const document = await readFile(new URL('../openapi.json', import.meta.url), 'utf8');
const api = await fromOpenAPI(document, {
  baseUrl: process.env['API_URL'] ?? 'http://127.0.0.1:8080',
  credentials: { token: process.env['API_TOKEN'] ?? 'demo' },
});

export default createServer({ ...api, name: '${name}' });
`,
    'test/api.ts': `import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Starts the API of openapi.json, with one item. */
export async function startApi(port = 0): Promise<{ url: string; close: () => void }> {
  const api = createServer((request, response) => {
    const isFound = request.url === '/items/1';
    response.writeHead(isFound ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isFound ? { id: 1, name: 'Pear' } : { error: 'There is no such item.' }));
  });
  api.listen(port, '127.0.0.1');
  await once(api, 'listening');
  const { port: found } = api.address() as AddressInfo;
  return { url: \`http://127.0.0.1:\${found}\`, close: () => api.close() };
}

if (process.argv[2] && /^\\d+$/.test(process.argv[2])) {
  console.log((await startApi(Number(process.argv[2]))).url);
}
`,
    'test/server.test.ts': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testClient } from 'fullmcp/testing';
import { startApi } from './api.ts';

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
