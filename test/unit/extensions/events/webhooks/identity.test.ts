import { expect, test } from 'vitest';
import { subscriptionId } from '../../../../../src/extensions/events/webhooks/identity.js';

const key = {
  principal: 'ann',
  url: 'https://a.example/h?k=1',
  name: 'ticket',
  args: { a: 1, b: { c: [1, 2] } },
};

test('the id of a subscription does not depend on the order of its arguments', async () => {
  const other = { ...key, args: { b: { c: [1, 2] }, a: 1 } };
  expect(await subscriptionId(other)).toBe(await subscriptionId(key));
  expect(await subscriptionId(key)).toMatch(/^sub_[0-9a-f]{32}$/);
});

test.each([
  ['caller', { principal: 'bob' }],
  ['address', { url: 'https://a.example/h?k=2' }],
  ['type', { name: 'ticket2' }],
  ['arguments', { args: { a: 1, b: { c: [2, 1] } } }],
])('another %s makes another subscription', async (_what, change) => {
  expect(await subscriptionId({ ...key, ...change })).not.toBe(await subscriptionId(key));
});
