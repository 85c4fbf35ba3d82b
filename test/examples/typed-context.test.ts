import { inProcess } from 'fullmcp';
import { serve } from 'fullmcp/node';
import { expect, test } from 'vitest';
import server from '../../examples/typed-context/server.js';
import { type Fetch, listToolsIn2025, modern, post } from '../support/examples/wire.js';

test('the typed-context example passes state and user to tools in another file, and is closed with its server', async () => {
  const { url, close } = await serve(server, { port: 0, signals: false });
  const call = async (account: string, name: string, args: object = {}): Promise<unknown> => {
    const { body, headers } = modern('tools/call', { name, arguments: args });
    const response = await fetch(
      post(url, body, { ...(headers as Record<string, string>), 'x-account': account }),
    );
    return ((await response.json()) as { result: unknown }).result;
  };
  expect(await call('ada', 'list_orders')).toMatchObject({
    content: [{ text: '[{"id":1,"account":"ada","item":"Compass"}]' }],
  });
  expect(await call('bob', 'find_order', { id: 2 })).toMatchObject({
    structuredContent: { item: 'Lantern' },
  });
  expect(await call('bob', 'find_order', { id: 1 })).toMatchObject({
    isError: true,
    content: [{ text: 'Order 1 does not exist. Yours are: 2' }],
  });
  const asAda: Fetch = (request) => {
    request.headers.set('x-account', 'ada');
    return fetch(request);
  };
  expect(await listToolsIn2025(url, asAda)).toEqual(['list_orders', 'find_order']);
  const stranger = inProcess(server);
  await expect(stranger('resources/read', { uri: 'orders://mine' })).rejects.toThrow('Who are you?');
  await close();
  await expect(stranger('tools/call', { name: 'list_orders' })).rejects.toThrow('This server is closed');
});
