import { createServer, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { everyWire } from 'fullmcp/testing';
import { expect, test } from 'vitest';

const names = { 'com.example/preview': {}, plain: {} };
const declared = { 'com.example/snapshots': { max: 3 } };

const server = createServer({
  name: 'sandbox',
  version: '1',
  experimental: declared,
  tools: { seen: tool({ run: (_, ctx) => ({ seen: ctx.client.capabilities.experimental ?? null }) }) },
});

test('experimental capabilities of both ends reach the other end, over every transport and revision', async () => {
  await everyWire(
    server,
    async (client) => {
      expect(client.server.capabilities.experimental).toEqual(declared);
      expect((await client.callTool('seen')).data).toEqual({ seen: names });
    },
    { experimental: names },
  );
});

test('a client without experimental capabilities declares none', async () => {
  await everyWire(server, async (client) => {
    expect((await client.callTool('seen')).data).toEqual({ seen: null });
  });
});

test.each([[['a']], [{ a: true }], ['a']])(
  'connect rejects the option experimental: %j',
  async (experimental) => {
    await expect(connect(server, { experimental } as never)).rejects.toThrow(
      '"experimental" must be an object',
    );
  },
);
