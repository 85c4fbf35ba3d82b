// #region imports
import { everyWire, testClient, wires } from 'fullmcp/testing';
import { expect, test } from 'vitest';
import server from './shop.js';

// #endregion

// #region first
test('price returns the price of an item', async () => {
  await using client = await testClient(server);
  const { data } = await client.callTool('price', { item: 'pear' });
  expect(data).toEqual({ item: 'pear', price: 2 });
  expect(await client.tool.count({ to: 3 })).toBe(3); // with the server's types: a typo does not compile
});
// #endregion

// #region answers
test('an admin can wipe the shop after confirming', async () => {
  await using client = await testClient(server, {
    caller: { scopes: ['admin'] }, // what the server sees as ctx.auth
    answers: { confirm: { ok: true } }, // by the keys of the server's questions
  });
  expect((await client.callTool('wipe')).text).toBe('done');
});

test('the shop is not wiped if the user declines', async () => {
  await using client = await testClient(server, {
    caller: { scopes: ['admin'] },
    answers: { confirm: { action: 'decline' } },
  });
  expect((await client.callTool('wipe')).text).toBe('The user declined: confirm');
});
// #endregion

// #region one-wire
test('price works for a client of 2025', async () => {
  await using client = await testClient(server, { over: 'http', revision: '2025-11-25' });
  expect((await client.callTool('price', { item: 'pear' })).text).toContain('2');
});
// #endregion

// #region every-wire
test('progress reaches every client', async () => {
  await everyWire(server, async (client) => {
    const steps: number[] = [];
    await client.callTool('count', { to: 3 }, { onProgress: ({ progress }) => steps.push(progress) });
    expect(steps).toEqual([1, 2, 3]);
  });
});
// #endregion

// #region each-wire
test.each(wires)('price reports an unknown item over $name', async ({ over, revision }) => {
  await using client = await testClient(server, { over, revision });
  expect((await client.callTool('price', { item: 'plum' })).text).toBe('There is no plum');
});
// #endregion
