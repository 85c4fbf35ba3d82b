import { connect } from 'fullmcp/client';
import { expect, test } from 'vitest';
import { json, result, scriptedServer, status, stream } from '../../../../support/http/http-server.js';
import { until } from '../../../../support/until.js';

const capabilities = { resources: { listChanged: true } };

/** A server whose GET is answered with 503 until `isOpen`. With each ping it sends a notification on the stream. */
function lateStream(isOpen: () => boolean) {
  let say: ReturnType<typeof stream>['say'] | undefined;
  return scriptedServer((request, response) => {
    if (request.method === 'DELETE') return status(response, 204);
    if (request.method === 'GET' && !isOpen()) return status(response, 503);
    if (request.method === 'GET') {
      say = stream(response).say;
      return;
    }
    if (request.body?.id === undefined) return status(response, 202);
    if (request.body.method === 'ping') say?.({ jsonrpc: '2.0', method: 'notifications/example' });
    if (request.body.method !== 'initialize') return json(response, result(request, {}));
    response.setHeader('mcp-session-id', 'session-1');
    const serverInfo = { name: 'late', version: '1' };
    return json(response, result(request, { protocolVersion: '2025-06-18', capabilities, serverInfo }));
  });
}

test('everything is reported as changed if the stream of changes opens only after the subscription', async () => {
  let isOpen = false;
  await using server = await lateStream(() => isOpen);
  await using client = await connect(server.url, { revision: '2025-06-18' });
  const changes: unknown[] = [];
  await client.subscribe({ resources: true }, { onChange: (change) => changes.push(change) });
  await until('the stream was refused', () => server.received.some(({ method }) => method === 'GET'));
  expect(changes).toEqual([]);
  isOpen = true;
  await until('the change is reported', () => changes.length > 0);
  expect(changes).toEqual([{ kind: 'resources' }]);
});

test('nothing is reported as changed if the stream of changes opens before the subscription', async () => {
  await using server = await lateStream(() => true);
  await using client = await connect(server.url, { revision: '2025-06-18' });
  let isHeard = false;
  client.on('notification', () => {
    isHeard = true;
  });
  await until('the client reads the stream', async () => (await client.ping()) >= 0 && isHeard);
  const changes: unknown[] = [];
  await client.subscribe({ resources: true }, { onChange: (change) => changes.push(change) });
  await client.ping();
  expect(changes).toEqual([]);
});
