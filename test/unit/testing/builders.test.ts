import { createServer, prompt, resource } from 'fullmcp';
import { expect, test } from 'vitest';
import {
  listedPrompt,
  listedResource,
  listedTemplate,
  promptResult,
  resourceResult,
  testClient,
} from '../../../src/testing.js';

const bytes = new Uint8Array([1, 2, 3]);
const server = createServer({
  name: 'builders',
  version: '1',
  resources: {
    'x://text': resource({ read: () => 'hello' }),
    'x://bytes': resource({ read: () => bytes }),
    'x://{id}': resource({ read: ({ id }) => ({ id }) }),
  },
  prompts: { greet: prompt({ run: () => 'Hello' }) },
});

test('resourceResult and promptResult build what a server sends', async () => {
  await using client = await testClient(server);
  const values = { 'x://text': 'hello', 'x://bytes': bytes, 'x://7': { id: '7' } };
  for (const [uri, value] of Object.entries(values))
    expect(resourceResult(uri, value).contents).toEqual((await client.readResource(uri)).contents);
  expect(promptResult('Hello').messages).toEqual((await client.getPrompt('greet')).messages);
  expect(promptResult('Hello', 'Greets').description).toBe('Greets');
  expect(resourceResult('x://none', undefined).contents).toEqual([]);
});

test('listedResource, listedTemplate and listedPrompt build entries of lists', async () => {
  await using client = await testClient(server);
  const [first] = await client.resources().all();
  expect(listedResource('x://text', { ...first })).toEqual(first);
  const [template] = await client.templates().all();
  expect(listedTemplate('x://{id}', { ...template })).toEqual(template);
  expect(listedResource('x://a')).toEqual({ uri: 'x://a', name: 'x://a' });
  expect(listedTemplate('x://{a}', { title: 'A' })).toEqual({
    uriTemplate: 'x://{a}',
    name: 'x://{a}',
    title: 'A',
  });
  expect(listedPrompt('greet', { description: 'Greets' })).toEqual({ name: 'greet', description: 'Greets' });
});
