import Anthropic from '@anthropic-ai/sdk';
import { connect } from 'fullmcp/client';
import { mockModel } from 'fullmcp/testing';
import { expect, test } from 'vitest';
import { ask, type Model } from '../search/models.js';
import shop from './shop.js';

// #region model
test('the agent looks up the price that it is asked for', async () => {
  await using model = await mockModel([
    { fail: 529, retryAfterMs: 10 }, // the SDK retries
    { say: 'I will look.', calls: [{ name: 'price', args: { item: 'pear' } }] },
    ({ results }) => `It is ${results[0]?.text}.`,
  ]);
  await using client = await connect(shop);
  expect(await ask(client, anthropic(model.url), 'What is a pear?')).toMatch(/It is .*2/);
  expect(model.requests[1]?.tools).toContain('price');
  expect(model.left).toBe(0);
});
// #endregion

function anthropic(baseURL: string): Model {
  const api = new Anthropic({ baseURL, apiKey: 'any' });
  return {
    create: (request) =>
      api.messages.create({ model: 'mock', max_tokens: 1000, ...request } as never) as never,
  };
}
