import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { connect } from '../../../../src/client.js';
import { createServer, tool } from '../../../../src/index.js';
import { testClient } from '../../../../src/testing.js';
import { inProcessClient } from '../../../support/in-process-client.js';

// Return values of handlers in JavaScript, which no compiler checks.

const form = z.object({ seats: z.number().int().min(1), name: z.string().default('Ada') });
const server = createServer({
  name: 'asks',
  version: '1',
  secret: 'a secret that is long enough for a test',
  tools: {
    book: tool({ run: async (_, ctx) => ctx.elicit('booking', { message: 'Seats?', schema: form }) }),
    picky: tool({
      run: async (_, ctx) =>
        ctx.elicit('even', {
          message: 'Even?',
          schema: z.object({ n: z.number().refine((n) => n % 2 === 0) }),
        }),
    }),
    pay: tool({ run: async (_, ctx) => ctx.elicit('pay', { message: 'Pay', url: 'https://example.com' }) }),
    poem: tool({ run: async (_, ctx) => ctx.sample('poem', { messages: 'A poem', maxTokens: 10 }) }),
    folders: tool({ run: async (_, ctx) => ctx.roots('folders') }),
    tools: tool({
      run: async (_, ctx) =>
        ctx.sample('t', {
          messages: 'x',
          maxTokens: 1,
          tools: [{ name: 't', inputSchema: { type: 'object' } }],
        }),
    }),
  },
});

// biome-ignore lint/suspicious/noExplicitAny: what a JavaScript program may give
type Anything = any;

describe('the return value of a handler', () => {
  test.each<[string, Anything, RegExp]>([
    [
      'the fields themselves',
      { seats: 2 },
      /`elicit` handler.*without `action`: `seats` must be inside `content`.*Return \{ action: "accept", content \}/,
    ],
    ['nothing', undefined, /`elicit` handler returned undefined\. Return/],
    ['true', true, /returned a boolean\. Return/],
    ['another object', { yes: 1 }, /without `action`\. Return/],
    ['another action', { action: 'accepted', content: { seats: 1 } }, /`action: "accepted"`\. Return/],
    ['content that is not an object', { action: 'accept', content: 'x' }, /returned a string as `content`/],
  ])('is rejected at once if it does not answer a form: %s', async (_name, answer, message) => {
    let questions = 0;
    await using client = await inProcessClient(server, {
      elicit: () => {
        questions++;
        return answer;
      },
    });
    const error = await client.callTool('book').catch((reason) => reason);
    expect(error).toMatchObject({ code: 'internal_error' });
    expect(error.message).toMatch(message);
    expect(error.message).not.toContain('accepted by');
    expect(questions).toBe(1);
    expect(client.info().problems[0]).toMatch(message);
  });

  test('is rejected if it does not answer a URL elicitation, a sampling request or a request for roots', async () => {
    await using client = await inProcessClient(server, {
      elicit: { form: () => ({ action: 'cancel' }), url: (() => true) as Anything },
      sample: (() => 'roses') as Anything,
      roots: (() => 'file:///home') as Anything,
    });
    await expect(client.callTool('pay')).rejects.toThrow(
      /`elicit\.url` handler returned a boolean.*\{ action: "accept" \}/,
    );
    await expect(client.callTool('poem')).rejects.toThrow(
      /`sample` handler returned a string.*role: "assistant"/,
    );
    await expect(client.callTool('folders')).rejects.toThrow(/`roots` returned a string.*array/);
  });

  test.each<[Anything, RegExp]>([
    [{ role: 'system', content: { type: 'text', text: '' }, model: 'm' }, /`role`/],
    [{ role: 'assistant', content: { type: 'text', text: '' } }, /`model`/],
    [{ role: 'assistant', content: 'roses', model: 'm' }, /`content`/],
    [{ role: 'assistant', content: [{ text: 'roses' }], model: 'm' }, /`content`/],
  ])('is rejected with the mistake in a sampling result: %j', async (answer, message) => {
    await using client = await inProcessClient(server, { sample: () => answer });
    await expect(client.callTool('poem')).rejects.toThrow(message);
  });

  test.each<[Anything, RegExp]>([
    [[7], /`roots` contains a number/],
    [[{ path: '/x' }], /`roots` contains an object/],
    [['/home'], /file:\/\/\//],
  ])('is rejected with the mistake in the roots: %j', async (roots, message) => {
    await using client = await inProcessClient(server, { roots: () => roots });
    await expect(client.callTool('folders')).rejects.toThrow(message);
  });
});

describe('an answer that does not fit its form', () => {
  test('is returned to the handler with the problem, and never reaches the server', async () => {
    const rejections: unknown[] = [];
    await using client = await inProcessClient(server, {
      maxRounds: 5,
      elicit: (_form, { rejection }) => {
        rejections.push(rejection);
        return { action: 'accept', content: { seats: rejections.length - 1 } };
      },
    });
    expect((await client.callTool('book')).data).toEqual({
      action: 'accept',
      content: { seats: 1, name: 'Ada' },
    });
    expect(rejections).toEqual([undefined, expect.stringContaining('seats')]);
  });

  test('ends the call after maxRounds with an error that names the handler, the question and the field', async () => {
    let questions = 0;
    await using client = await inProcessClient(server, {
      maxRounds: 4,
      elicit: () => {
        questions++;
        return { action: 'accept', content: { seats: 'many' } };
      },
    });
    const error = await client.callTool('book').catch((reason) => reason);
    expect(error.message).toMatch(
      /`elicit` handler's answer to "booking" does not fit\. seats: .*(integer|number)/,
    );
    expect(questions).toBe(4);
  });

  test('is sent if the server can coerce it', async () => {
    await using client = await inProcessClient(server, {
      elicit: () => ({ action: 'accept', content: { seats: '3' } }),
    });
    expect((await client.callTool('book')).data).toMatchObject({ content: { seats: 3 } });
  });

  test('ends the call with an error that names the question and the handlers if only the server rejects it', async () => {
    await using client = await inProcessClient(server, {
      maxRounds: 3,
      elicit: () => ({ action: 'accept', content: { n: 1 } }),
    });
    const error = await client.callTool('picky').catch((reason) => reason);
    expect(error).toMatchObject({ code: 'invalid_params' });
    expect(error.message).toMatch(/"even" again after each of 3 answers.*handlers/);
  });

  test('is attributed to the handler in a group too', async () => {
    await using client = await connect(
      { mcpServers: { own: { target: server } } },
      {
        elicit: (() => ({ seats: 2 })) as Anything,
      },
    );
    await expect(client.callTool('own_book')).rejects.toThrow(/`seats` must be inside `content`/);
  });

  test('is reported to the program, and to the server without its values, in a session of 2025-11-25', async () => {
    await using client = await testClient(server, {
      over: 'http',
      revision: '2025-11-25',
      elicit: (() => ({ seats: 2 })) as Anything,
    });
    const outcome = await client.callTool('book').then(
      ({ text }) => text,
      ({ message }) => message,
    );
    expect(client.info().problems).toEqual([expect.stringMatching(/`seats` must be inside `content`/)]);
    // The names of the fields are the server's own.
    expect(outcome).toContain('`seats` must be inside `content`');
  });

  test('is sent unchecked if the schema of the form cannot be read', async () => {
    const question = {
      method: 'elicitation/create',
      params: { message: 'x', requestedSchema: { $ref: '#/nowhere', type: 7 } },
    };
    await using client = await inProcessClient(
      {
        dispatch: async (call) =>
          call.method === 'server/discover'
            ? server.dispatch(call)
            : call.params['inputResponses'] === undefined
              ? { resultType: 'input_required', inputRequests: { q: question } }
              : { resultType: 'complete', content: [], structuredContent: call.params['inputResponses'] },
      },
      { elicit: () => ({ action: 'accept', content: { any: 1 } }) },
    );
    expect((await client.callTool('x')).data).toEqual({ q: { action: 'accept', content: { any: 1 } } });
  });
});

describe('a missing handler', () => {
  test.each([
    ['book', /Pass `elicit` to connect\(\)\./],
    ['pay', /Pass `elicit\.url` to connect\(\)\./],
    ['poem', /Pass `sample` to connect\(\)\./],
    ['tools', /Pass `sample: \{ run, tools: true \}` to connect\(\)\./],
    ['folders', /Pass `roots` to connect\(\)\./],
  ])('is named in the error of the call, with the remedy: %s', async (name, message) => {
    await using client = await inProcessClient(server);
    const error = await client.callTool(name).catch((reason) => reason);
    expect(error).toMatchObject({ code: 'missing_capability' });
    expect(error.message).toMatch(message);
    // The server's own advice, for clients of all kinds, is the same thing in other words.
    expect(error.message.match(/connect\(/g)).toHaveLength(1);
  });
});
