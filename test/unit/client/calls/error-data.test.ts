import { createServer, McpError, prompt, resource, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { proxy } from 'fullmcp/proxy';
import { everyWire, testClient } from 'fullmcp/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { gatewayTo } from '../../connect/gateway/gateway-servers.js';

const shop = createServer({
  name: 'shop',
  version: '1',
  logger: () => undefined,
  tools: {
    buy: tool({ input: z.object({ item: z.string() }), run: () => 'bought' }),
    secret: tool({ allow: () => false, run: () => 'secret' }),
  },
  prompts: {
    hidden: prompt({ allow: () => false, args: z.object({ who: z.string() }), run: () => 'x' }),
    greet: prompt({ args: z.object({ who: z.string() }), run: ({ who }) => `Hello ${who}` }),
  },
  resources: {
    'a://hidden': resource({ allow: () => false, read: () => 'x' }),
    'a://b': resource({ read: () => 'b' }),
    'a://{x}/y': resource({ complete: { x: () => ['1'] }, read: () => 'y' }),
  },
  methods: {
    'shop/close': { params: z.object({ hour: z.number() }), run: () => ({}) },
  },
});

async function faultOf(call: Promise<unknown>): Promise<{ code: string; data: unknown }> {
  const error = await call.then(
    () => expect.unreachable('the call succeeds'),
    (reason: unknown) => reason,
  );
  if (!McpError.is(error)) throw error;
  return { code: error.code, data: error.data };
}

const cases = [
  ['an unknown tool', 'tools/call', { name: 'sell' }, 'invalid_params', { kind: 'tool', name: 'sell' }],
  ['an unknown prompt', 'prompts/get', { name: 'bye' }, 'invalid_params', { kind: 'prompt', name: 'bye' }],
  [
    'a prompt without an argument',
    'prompts/get',
    { name: 'greet', arguments: {} },
    'invalid_params',
    { kind: 'prompt', name: 'greet', field: 'who' },
  ],
  [
    'an unknown resource',
    'resources/read',
    { uri: 'a://z' },
    /resource_not_found|invalid_params/,
    { kind: 'resource', name: 'a://z', uri: 'a://z' },
  ],
  [
    'completion for an unknown prompt',
    'completion/complete',
    { ref: { type: 'ref/prompt', name: 'bye' }, argument: { name: 'a', value: '' } },
    'invalid_params',
    { kind: 'prompt', name: 'bye' },
  ],
  [
    'completion for an unknown template',
    'completion/complete',
    { ref: { type: 'ref/resource', uri: 'a://{q}' }, argument: { name: 'q', value: '' } },
    'invalid_params',
    { kind: 'template', name: 'a://{q}' },
  ],
  ['an unknown method', 'shop/burn', {}, 'method_not_found', { kind: 'method', name: 'shop/burn' }],
  [
    'a method with a wrong parameter',
    'shop/close',
    { hour: 'six' },
    'invalid_params',
    { kind: 'method', name: 'shop/close', field: 'hour' },
  ],
] as const;

test('errors about definitions name the definition and the field in their data, over every transport and revision', async () => {
  await everyWire(shop, async (client) => {
    for (const [label, method, params, code, data] of cases) {
      const fault = await faultOf(client.request(method, params as never));
      expect(fault.code, label).toMatch(code);
      expect(fault.data, label).toEqual(data);
    }
  });
});

test('a hidden tool, prompt and resource get the data of unknown ones', async () => {
  await using client = await testClient(shop, { over: 'http', caller: { subject: 'ada' } });
  const faults = await Promise.all([
    faultOf(client.callTool('secret')),
    faultOf(client.getPrompt('hidden')),
    faultOf(client.readResource('a://hidden')),
  ]);
  expect(faults.map(({ data }) => data)).toEqual([
    { kind: 'tool', name: 'secret' },
    { kind: 'prompt', name: 'hidden' },
    { kind: 'resource', name: 'a://hidden', uri: 'a://hidden' },
  ]);
});

test('a proxy passes the data of errors on', async () => {
  const front = proxy(shop);
  const client = await connect(front);
  expect((await faultOf(client.callTool('sell'))).data).toEqual({ kind: 'tool', name: 'sell' });
  const missing = await faultOf(client.getPrompt('greet', {} as never));
  expect(missing.data).toEqual({ kind: 'prompt', name: 'greet', field: 'who' });
  await client.close();
  await front.close();
});

describe('behind a gateway', () => {
  test('the data of errors has the names that the caller uses', async () => {
    const { client } = await gatewayTo({ shop, other: createServer({ name: 'other', version: '1' }) });
    const faults = await Promise.all([
      faultOf(client.callTool('shop_sell')),
      faultOf(client.callTool('nowhere')),
      faultOf(client.getPrompt('shop_greet', {})),
      faultOf(client.readResource('a://z')),
      faultOf(client.complete({ prompt: 'shop_bye', argument: 'a', value: '' } as never)),
    ]);
    expect(faults.map(({ data }) => data)).toEqual([
      { kind: 'tool', name: 'shop_sell' },
      { kind: 'tool', name: 'nowhere' },
      { kind: 'prompt', name: 'shop_greet', field: 'who' },
      { kind: 'resource', name: 'a://z', uri: 'a://z' },
      { kind: 'prompt', name: 'shop_bye' },
    ]);
  });

  test('a tool that the gateway hides gets the data of an unknown one', async () => {
    const { client } = await gatewayTo({ shop }, { allow: ({ name }) => name !== 'buy' });
    expect((await faultOf(client.callTool('shop_buy'))).data).toEqual({ kind: 'tool', name: 'shop_buy' });
    expect((await faultOf(client.callTool('shop_sell'))).data).toEqual({ kind: 'tool', name: 'shop_sell' });
  });
});

test('a name of a megabyte is not sent back', async () => {
  const client = await connect(shop);
  const { data } = await faultOf(client.callTool('n'.repeat(1_000_000) as never));
  expect(JSON.stringify(data).length).toBeLessThan(3000);
  await client.close();
});
