import { readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { McpError } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { mockServer, randomPlan, recorder, replay, startFaults, testClient } from 'fullmcp/testing';
import { expect, test } from 'vitest';
import { cheapest } from './cheapest.js';
import shop from './shop.js';

// #region mock
test('cheapest returns the cheapest item, and ignores an item without a price', async () => {
  const mock = mockServer({
    tools: { price: ({ item }) => ({ item, price: item.length }) }, // a function, or always the same value
  });
  await using client = await connect(mock);
  expect(await cheapest(client, ['kiwi', 'fig', 'plum'])).toBe('fig');
  expect(mock.callsTo('price').map(({ args }) => args['item'])).toEqual(['kiwi', 'fig', 'plum']);

  mock.fail('price', 'Closed on Sundays'); // the tool fails; an McpError would be a protocol error
  expect(await cheapest(client, ['kiwi'])).toBeUndefined();
  mock.failOnce('price', new McpError('overloaded', 'Come back later'));
  expect(await cheapest(client, ['kiwi', 'plum'])).toBe('plum');
});
// #endregion

// #region hang
test('cheapest returns undefined if the shop does not answer', async () => {
  const mock = mockServer({ tools: { price: { item: 'kiwi', price: 1 } } });
  await using client = await connect(mock, { timeoutMs: 20 });
  mock.hang('price'); // until the call times out
  expect(await cheapest(client, ['kiwi'])).toBeUndefined();
});
// #endregion

const file = join(tmpdir(), `shop-${crypto.randomUUID()}.jsonl`);

test('a recording can be replayed in place of the server', async () => {
  // #region record
  const tape = recorder();
  {
    await using client = await connect(shop, { use: [tape] }); // or createServer({ use: [tape] })
    await cheapest(client, ['apple', 'pear']);
  }
  await writeFile(file, tape.recording);
  // #endregion

  // #region replay
  await using client = await connect(replay(await readFile(file, 'utf8')));
  expect(await cheapest(client, ['apple', 'pear'])).toBe('pear');
  await expect(client.callTool('price', { item: 'plum' })).rejects.toThrow('no call of tools/call price');
  // #endregion
  await rm(file);
});

// #region faults
test.each([1, 2, 3, 4, 5])('cheapest survives a bad network, with seed %i', async (seed) => {
  const faults = startFaults({ seed, after: 1, drop: 0.1, garble: 0.1, duplicate: 0.1, delay: 0.2 });
  await using client = await testClient(shop, { over: 'stdio', faults, timeoutMs: 100 });
  expect([undefined, 'apple', 'pear']).toContain(await cheapest(client, ['apple', 'pear']));
  faults.stop(); // no more faults from here on
  expect(await cheapest(client, ['apple', 'pear'])).toBe('pear');
});
// #endregion

test('a random plan is always the same for a seed', () => {
  // #region random-plan
  const plan = randomPlan(4711); // one to three kinds of faults, rare or frequent
  // #endregion
  expect(plan).toEqual(randomPlan(4711));
});
