import { createServer, tool } from 'fullmcp';
import { testClient } from 'fullmcp/testing';
import { describe, expect, test } from 'vitest';
import { ask, askWithSearch, findTools, type Model } from '../../../examples/search/models.js';

// Runs the code that docs/models.md shows.

const server = createServer({
  name: 'office',
  version: '1.0.0',
  tools: {
    help: tool({ description: 'How to use it', run: () => 'Ask' }),
    get_forecast: tool({ description: 'The weather', run: () => 'sunny' }),
  },
});

describe('the programs of the guide', () => {
  test('let a model call tools until it is done', async () => {
    await using client = await testClient(server);
    const requests: { messages: object[] }[] = [];
    const model: Model = {
      async create(request) {
        requests.push(structuredClone(request));
        return requests.length === 1
          ? { content: [{ type: 'tool_use', id: 'u1', name: 'get_forecast', input: {} }] }
          : { content: [{ type: 'text', text: 'It is sunny.' }] };
      },
    };
    expect(await ask(client as never, model, 'Will it rain?')).toBe('It is sunny.');
    expect(requests[1]?.messages[2]).toMatchObject({
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'u1', content: [{ text: 'sunny' }] }],
    });
  });

  test('let it search instead', async () => {
    await using client = await testClient(server);
    expect(await findTools(client as never, 'weather')).toEqual(['get_forecast']);
    expect(await askWithSearch(client as never)).toHaveLength(2);
  });
});
