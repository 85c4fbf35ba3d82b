import { createServer, tool } from 'fullmcp';
import { test as base, describe, expect } from 'vitest';
import { clientFixture } from '../../../../src/testing.js';

let made = 0;
let closed = 0;
function counting() {
  made += 1;
  return createServer({
    name: 'counter',
    version: '1',
    lifespan: async function* () {
      yield {};
      closed += 1;
    },
    tools: { number: tool({ run: () => made }) },
  });
}

const shop = createServer({ name: 'shop', version: '1', tools: { price: tool({ run: () => 2 }) } });
const test = base.extend({
  client: clientFixture(shop),
  old: clientFixture(shop, { over: 'stdio', revision: '2024-11-05' }),
  fresh: clientFixture(counting),
});

describe('clientFixture', () => {
  const clients = new Set<unknown>();

  test('gives each test a client with the types of the server', async ({ client }) => {
    clients.add(client);
    const price: number = await client.tool.price();
    expect(price).toBe(2);
    // @ts-expect-error: there is no such tool
    await expect(client.tool.prise()).rejects.toThrow();
  });

  test('gives another test another client, with the options of its fixture', async ({ client, old }) => {
    expect(clients.has(client)).toBe(false);
    expect(old.info()).toMatchObject({ transport: 'stdio', revision: '2024-11-05' });
    expect([...clients].map((one) => (one as { status: string }).status)).toEqual(['closed']);
  });

  test('makes a new server for a test if it is given a function', async ({ fresh }) => {
    expect(await fresh.tool.number()).toBe(1);
    expect(closed).toBe(0);
  });

  test('closes the server after its test, and makes none for a test that does not ask for one', () => {
    expect([made, closed]).toEqual([1, 1]);
  });
});
