import { MessageChannel } from 'node:worker_threads';
import { createServer, tool } from 'fullmcp';
import { type Socket, serveWebSocket } from 'fullmcp/websocket';
import { expect, test } from 'vitest';

test('serveWebSocket speaks through any object with the methods of Socket, such as a port between threads', async () => {
  const server = createServer({ name: 'ported', version: '1', tools: { hi: tool({ run: () => 'hello' }) } });
  const { port1, port2 } = new MessageChannel();
  const socket: Socket = {
    send: (text) => port1.postMessage(text),
    close: () => port1.close(),
    addEventListener(type: string, listener: (event: { readonly data: unknown }) => void) {
      if (type === 'message') port1.on('message', (data) => listener({ data }));
      else if (type === 'close') port1.on('close', () => listener({ data: undefined }));
    },
  };
  const serving = serveWebSocket(server, socket);
  const arrived = new Promise<string>((resolve) => port2.once('message', resolve));
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const params = { name: 'hi', arguments: {}, _meta };
  port2.postMessage(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }));
  expect(JSON.parse(await arrived)).toMatchObject({ id: 1, result: { content: [{ text: 'hello' }] } });
  await serving.close({ deadlineMs: 1000 });
  port2.close();
  await server.close();
});
