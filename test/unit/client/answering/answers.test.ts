import { afterEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { createServer, tool } from '../../../../src/index.js';
import type { Dispatch } from '../../../../src/protocol/call.js';
import { inProcessClient } from '../../../support/in-process-client.js';
import { slowUser } from '../../../support/slow-user.js';

afterEach(() => void vi.useRealTimers());

const server = createServer({
  name: 'asks',
  version: '1',
  secret: 'a secret that is long enough for a test',
  tools: {
    book: tool({
      run: async (_, ctx) => {
        const [who, folders] = await Promise.all([
          ctx.elicit('who', {
            message: 'Who?',
            schema: z.object({ name: z.string(), seats: z.number().default(2) }),
          }),
          ctx.roots('folders'),
        ]);
        if (who.action !== 'accept') return `not booked: ${who.action}`;
        const poem = await ctx.sample('poem', { messages: 'A poem', maxTokens: 10 });
        const visit = await ctx.elicit('pay', { message: 'Pay', url: 'https://example.com/pay' });
        return `${who.content.name} ${who.content.seats} ${folders[0]?.uri} ${poem.text} ${visit.action}`;
      },
    }),
    ask: tool({
      run: async (_, ctx) =>
        (await ctx.elicit('q', { message: 'Q?', schema: z.object({ a: z.string() }) })).action,
    }),
  },
});

describe('questions of a server', () => {
  test('of every kind are answered by their handlers, with defaults filled in', async () => {
    const keys: (string | undefined)[] = [];
    await using client = await inProcessClient(server, {
      elicit: {
        form: ({ message, schema }, { key }) => {
          keys.push(key);
          expect(message).toBe('Who?');
          expect(schema).toMatchObject({ properties: { seats: { default: 2 } } });
          return { action: 'accept', content: { name: 'Ada' } };
        },
        url: async ({ url }, { key }) => {
          keys.push(key);
          expect(url).toBe('https://example.com/pay');
          return { action: 'accept' };
        },
      },
      sample: ({ messages, maxTokens }) => {
        expect([messages.length, maxTokens]).toEqual([1, 10]);
        return { role: 'assistant', content: { type: 'text', text: 'roses' }, model: 'm' };
      },
      roots: () => ['file:///home'],
    });
    expect((await client.callTool('book')).text).toBe('Ada 2 file:///home roses accept');
    expect(keys).toEqual(['who', 'pay']);
  });

  test('may be declined by the user', async () => {
    await using client = await inProcessClient(server, {
      elicit: { form: () => ({ action: 'decline' }), url: () => ({ action: 'cancel' }) },
      roots: ['file:///home'],
    });
    expect((await client.callTool('book')).text).toBe('not booked: decline');
  });

  test('are not asked without a handler: the server reports the missing capability', async () => {
    await using client = await inProcessClient(server);
    await expect(client.callTool('ask')).rejects.toMatchObject({ code: 'missing_capability' });
  });

  test('end the call, not the client, if a handler throws', async () => {
    await using client = await inProcessClient(server, {
      elicit: () => {
        throw new Error('the screen is broken');
      },
    });
    await expect(client.callTool('ask')).rejects.toMatchObject({
      cause: { message: 'the screen is broken' },
    });
    expect(client.status).toBe('ready');
  });

  test('do not use up the timeout of the call while the user answers', async () => {
    const userTakes = slowUser();
    await using client = await inProcessClient(server, {
      timeoutMs: 10_000,
      elicit: async () => {
        await userTakes(30_000);
        return { action: 'decline' };
      },
    });
    expect((await client.callTool('ask')).text).toBe('decline');
  });

  test('for roots reject a root that is not a URI, with the correct form', async () => {
    await using client = await inProcessClient(server, {
      elicit: () => ({ action: 'cancel' }),
      roots: ['/home/ada'],
    });
    await expect(client.callTool('book')).rejects.toMatchObject({
      message: expect.stringContaining('file:///'),
    });
  });
});

describe('a server that keeps asking', () => {
  const asking = (outcome: object): Dispatch =>
    async function dispatch(call) {
      return call.method === 'server/discover'
        ? server.dispatch(call)
        : { resultType: 'input_required', ...outcome };
    };
  const form = {
    method: 'elicitation/create',
    params: { message: 'Again?', requestedSchema: { type: 'object', properties: {} } },
  };

  test('is stopped after maxRounds', async () => {
    let questions = 0;
    await using client = await inProcessClient(
      { dispatch: asking({ inputRequests: { q: form } }) },
      {
        maxRounds: 3,
        elicit: () => {
          questions++;
          return { action: 'cancel' };
        },
      },
    );
    await expect(client.callTool('x')).rejects.toMatchObject({
      code: 'bad_response',
      message: expect.stringContaining('maxRounds'),
    });
    expect(questions).toBe(3);
  });

  test('gets its state back unchanged, and none if it sent none', async () => {
    const calls: unknown[] = [];
    const states = ['first', undefined];
    const dispatch: Dispatch = async (call) => {
      if (call.method === 'server/discover') return server.dispatch(call);
      calls.push([
        call.id,
        call.params['requestState'],
        call.params['inputResponses'],
        call.params['arguments'],
      ]);
      if (calls.length > 2) return { resultType: 'complete', content: [] };
      const requestState = states[calls.length - 1];
      return {
        resultType: 'input_required',
        inputRequests: { q: form },
        ...(requestState && { requestState }),
      };
    };
    await using client = await inProcessClient({ dispatch }, { elicit: () => ({ action: 'cancel' }) });
    await client.callTool('x', { n: 1 });
    const answer = { q: { action: 'cancel' } };
    expect(calls).toEqual([
      [expect.anything(), undefined, undefined, { n: 1 }],
      [expect.anything(), 'first', answer, { n: 1 }],
      [expect.anything(), undefined, answer, { n: 1 }],
    ]);
  });

  test('without a question fails the call', async () => {
    await using client = await inProcessClient({ dispatch: asking({}) });
    await expect(client.callTool('x')).rejects.toMatchObject({ code: 'bad_response' });
  });
});
