import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer as createMcpServer, tool } from 'fullmcp';
import { type MockModelOptions, type ModelScript, mockModel } from 'fullmcp/testing';
import { toTools } from 'fullmcp/tools';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import {
  type AskModel,
  ModelError,
  type ModelMessage,
  type ModelReply,
} from '../../../../src/evals/model/model.js';
import { modelOverHttp } from '../../../../src/evals/model/over-http.js';
import { retryingModel } from '../../../../src/evals/model/retrying.js';
import { type EvalModel, modelTarget } from '../../../../src/evals/model/target.js';

const APIS = ['anthropic', 'openai', 'openai-chat'] as const;
const KEY = 'planted-key-8f3a91c2d4';
const signal = new AbortController().signal;
const both = APIS.flatMap((api) => [true, false].map((stream) => ({ api, stream })));

async function modelOf(
  { api, stream }: { readonly api: (typeof APIS)[number]; readonly stream: boolean },
  script: ModelScript,
  { mock, ...options }: Partial<EvalModel> & { readonly mock?: MockModelOptions } = {},
) {
  const model = await mockModel(script, mock);
  onTestFinished(() => model.close());
  const target = modelTarget({ api, model: 'm', url: model.url, key: 'TEST_KEY', stream, ...options });
  return { model, ask: modelOverHttp(target, KEY), target };
}

function question(text = 'Bill Ädä 30 euros 💶'): {
  system: string;
  tools: object[];
  messages: ModelMessage[];
} {
  return { system: 'Be short.', tools: [], messages: [{ role: 'user', text }] };
}

async function failureOf(ask: AskModel, request = question()): Promise<ModelError> {
  const error = await ask(request, { signal }).then(
    (reply) => {
      throw new Error(`It did not fail: ${JSON.stringify(reply)}`);
    },
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ModelError);
  return error as ModelError;
}

describe.each(both)('A model over $api with stream: $stream', ({ api, stream }) => {
  const kind = { api, stream };

  it('replies with text and tokens, the cached ones included in the input', async () => {
    const { ask, model } = await modelOf(kind, [
      { say: 'Schön, 30 € 💶', usage: { input: 110, cached: 100, output: 7 } },
    ]);
    const reply = await ask(question(), { signal });
    expect(reply).toMatchObject({
      text: 'Schön, 30 € 💶',
      calls: [],
      stop: 'end',
      tokens: { input: 110, cached: 100, output: 7 },
    });
    expect(model.requests[0]).toMatchObject({ ask: 'Bill Ädä 30 euros 💶', system: 'Be short.' });
    expect(JSON.stringify(model.requests[0]?.headers)).toContain(KEY);
  });

  it('makes parallel calls, takes their results, and sends its own reply back unchanged', async () => {
    const calls = [
      { name: 'create_invoice', args: { amount: 30, to: 'Ädä' } },
      { name: 'notify', args: {} },
    ];
    const { ask, model } = await modelOf(kind, [
      { say: 'One moment.', thinking: 'hm', calls },
      ({ results }) => results.map(({ text }) => text).join(' and '),
    ]);
    const server = createMcpServer({
      name: 'shop',
      version: '1.0.0',
      tools: {
        create_invoice: tool({
          description: 'Bills.',
          input: z.object({ amount: z.number(), to: z.string() }),
          run: ({ amount }) => `billed ${amount}`,
        }),
        notify: tool({ description: 'Tells.', run: () => 'told' }),
      },
    });
    const { tools, run, close } = await toTools(server, api);
    onTestFinished(close);
    const request = { ...question(), tools: tools as object[] };
    const first = await ask(request, { signal });
    expect(first).toMatchObject({
      text: 'One moment.',
      stop: 'calls',
      calls: [
        { name: 'create_invoice', args: { amount: 30, to: 'Ädä' } },
        { name: 'notify', args: {} },
      ],
    });
    const results = await Promise.all(first.calls.map((call) => run(shapeOf(call, api) as never)));
    const messages = [
      ...request.messages,
      { role: 'model' as const, items: first.items },
      { role: 'tools' as const, results: results as object[] },
    ];
    const second = await ask({ ...request, messages }, { signal });
    expect(second.text).toBe('billed 30 and told');
    expect(model.requests[0]?.tools).toEqual(['create_invoice', 'notify']);
  });

  it.each([
    ['is not JSON', '{"amount": 3'],
    ['is an array', '[30]'],
  ])('keeps arguments whose JSON %s as they were written', async (_what, args) => {
    const { ask } = await modelOf(kind, [{ calls: [{ name: 'create_invoice', args }] }]);
    const [call] = (await ask(question(), { signal })).calls;
    expect(call).toMatchObject({ name: 'create_invoice', args: undefined });
    expect(call?.written.replaceAll(' ', '')).toBe(args.replaceAll(' ', ''));
  });

  it('gives a call without an id one that its result can name', async () => {
    const { ask, model } = await modelOf(kind, [
      {
        calls: [
          { name: 'a', id: null },
          { name: 'b', id: null },
        ],
      },
      'done',
    ]);
    const request = { ...question(), tools: await offered(api, ['a', 'b']) };
    const first = await ask(request, { signal });
    expect(first.calls.map(({ name }) => name)).toEqual(['a', 'b']);
    expect(new Set(first.calls.map(({ id }) => id)).size).toBe(2);
    const results = first.calls.map(({ id }) => resultOf(id, api));
    const messages: ModelMessage[] = [
      ...request.messages,
      { role: 'model', items: first.items },
      { role: 'tools', results },
    ];
    expect((await ask({ ...request, messages }, { signal })).text).toBe('done');
    expect(model.left).toBe(0);
  });

  it('reports a reply that breaks off, so that it can be asked again', async () => {
    const { ask } = await modelOf(kind, [
      { say: 'A long answer that ends early', ends: 'cut', endsAfter: 3 },
    ]);
    expect(await failureOf(ask)).toMatchObject({ kind: 'broken', isFinal: false });
  });

  it('ends a request when nothing comes, before the reply or in its middle', async () => {
    const { ask } = await modelOf(
      kind,
      [{ hang: true }, { say: 'A long answer that never ends', ends: 'hang', endsAfter: 3 }],
      { silenceMs: 60 },
    );
    for (let attempt = 0; attempt < 2; attempt++) {
      const error = await failureOf(ask);
      expect(error).toMatchObject({ kind: 'silent', isFinal: false });
      expect(error.message).toContain('sent nothing for 60 ms');
    }
  });

  it('ends a request that sends something all the time, but takes too long', async () => {
    const { ask } = await modelOf(
      kind,
      stream ? [{ say: 'word '.repeat(500), pauseMs: 20 }] : [{ hang: true }],
      {
        timeoutMs: 100,
      },
    );
    expect(await failureOf(ask)).toMatchObject({ kind: 'silent' });
  });

  it('retries 429 and 5xx after the time that the API wants, and then replies', async () => {
    const { ask, model } = await modelOf(kind, [
      { fail: 429, retryAfterMs: 20 },
      { fail: 529 },
      'Here I am.',
    ]);
    const reply = await retryingModel(ask, { baseMs: 1 })(question(), { signal });
    expect([reply.text, model.requests.length]).toEqual(['Here I am.', 3]);
  });

  it('retries three times at most', async () => {
    const { ask, model } = await modelOf(kind, Array(5).fill({ fail: 503 }));
    expect(await failureOf(retryingModel(ask, { baseMs: 1 }))).toMatchObject({ kind: 'busy', status: 503 });
    expect(model.requests.length).toBe(3);
  });

  it.each([
    ['400', { fail: 400, message: 'bad tools' }],
    ['401', { fail: 401, message: 'no' }],
    ['429 without credit', { fail: 429, kind: 'insufficient_quota' }],
    ['a wait of an hour', { fail: 429, retryAfterMs: 3_600_000 }],
    ['a page of a proxy', { fail: 200, body: '<html>Log in</html>' }],
  ])('does not retry %s', async (_what, turn) => {
    const { ask, model } = await modelOf(kind, [turn, 'never']);
    await failureOf(retryingModel(ask, { baseMs: 1 }));
    expect(model.requests.length).toBe(1);
  });

  it('follows no redirect, because the key would go with it', async () => {
    const elsewhere = await mockModel(['never']);
    onTestFinished(() => elsewhere.close());
    const { ask } = await modelOf(kind, [
      { fail: 307, headers: { location: `${elsewhere.url}/v1/chat/completions` } },
    ]);
    expect((await failureOf(ask)).message).toContain('redirects to another address');
    expect(elsewhere.requests).toEqual([]);
  });

  it('has no key in its errors, even if the API repeats it', async () => {
    const { ask } = await modelOf(kind, [
      { fail: 401, message: `Incorrect API key provided: ${KEY}. Bearer ${KEY}` },
      { fail: 500, message: encodeURIComponent(KEY) },
    ]);
    for (let attempt = 0; attempt < 2; attempt++) {
      const error = await failureOf(ask);
      expect(error.message).toContain('answered');
      expect(`${error.message} ${error.stack} ${JSON.stringify(error)}`).not.toContain(KEY);
    }
  });
});

describe('A stream', () => {
  it.each(APIS)('over %s that reports an error in its middle is a failure', async (api) => {
    const { ask } = await modelOf({ api, stream: true }, [{ say: 'Well, I think', ends: 'error' }]);
    expect(await failureOf(ask)).toMatchObject({ kind: 'broken' });
  });

  it.each([1, 2, 3, 4, 5, 6, 7, 8])('is read however its bytes are split (seed %i)', async (seed) => {
    for (const api of APIS) {
      const say = 'Zürich 💶 \\" {"a":1}\n\nÄ';
      const { ask } = await modelOf({ api, stream: true }, [{ say, calls: [{ name: 'a', args: { say } }] }], {
        mock: { seed },
      });
      expect(await ask(question(), { signal })).toMatchObject({ text: say, calls: [{ args: { say } }] });
    }
  });
});

/** Sends one reply of a server that is not quite like the vendor's. */
async function askRaw(reply: string, type: string): Promise<ModelReply> {
  const server = createServer((_req, res) => res.writeHead(200, { 'content-type': type }).end(reply));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return modelOverHttp(modelTarget({ api: 'openai-chat', model: 'm', url }), '')(question(), { signal });
}

describe('A server that is almost compatible', () => {
  const part = (delta: object, finish_reason: string | null = null): string =>
    `data: ${JSON.stringify({ choices: [{ delta, finish_reason }] })}\n\n`;

  it('may leave out the index of calls, and repeat their names', async () => {
    const stream = [
      part({ tool_calls: [{ id: '1', function: { name: 'a', arguments: '{"x"' } }] }),
      part({ tool_calls: [{ id: '1', function: { name: 'a', arguments: ':1}' } }] }),
      part({ tool_calls: [{ id: '2', function: { name: 'b', arguments: { y: 2 } } }] }),
      part({}, 'stop'),
    ].join('');
    const reply = await askRaw(stream, 'text/event-stream');
    expect(reply).toMatchObject({
      stop: 'calls',
      calls: [
        { id: '1', name: 'a', args: { x: 1 } },
        { id: '2', name: 'b', args: { y: 2 } },
      ],
      tokens: undefined,
    });
  });

  it('may answer a stream with one piece of JSON, and send the arguments as an object', async () => {
    const message = {
      content: null,
      tool_calls: [{ id: '1', function: { name: 'a', arguments: { x: 1 } } }],
    };
    const reply = await askRaw(
      JSON.stringify({ choices: [{ message, finish_reason: 'stop' }] }),
      'application/json',
    );
    expect(reply).toMatchObject({ stop: 'calls', calls: [{ name: 'a', args: { x: 1 } }] });
  });

  it('may send names and arguments that a program must not trust', async () => {
    const calls = [
      { index: 1e9, id: 'x', function: { name: '__proto__', arguments: '{"__proto__":{"polluted":1}}' } },
      { index: -1, id: 7, function: { name: 'n'.repeat(5000), arguments: null } },
    ];
    const reply = await askRaw(part({ tool_calls: calls }, 'tool_calls'), 'text/event-stream');
    expect(reply.calls.map(({ name }) => name.length)).toEqual([200, 9]);
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });

  it.each([
    ['no message', '{"choices":[]}', 'application/json'],
    ['a number', '17', 'application/json'],
    ['no end', part({ content: 'x' }), 'text/event-stream'],
    [
      'thousands of calls',
      part({ tool_calls: [] }) +
        Array.from({ length: 1100 }, (_, index) => part({ tool_calls: [{ index }] })).join(''),
      'text/event-stream',
    ],
  ])('is an error with %s', async (_what, reply, type) => {
    await expect(askRaw(reply, type)).rejects.toBeInstanceOf(ModelError);
  });

  it('cannot send more than 16 MB', async () => {
    await expect(
      askRaw(JSON.stringify({ choices: 'x'.repeat(17_000_000) }), 'application/json'),
    ).rejects.toThrow('sent more than');
  });
});

function shapeOf({ id, name, args, written }: ModelReply['calls'][number], api: string): object {
  if (api === 'anthropic') return { id, name, input: args };
  return api === 'openai'
    ? { call_id: id, name, arguments: written }
    : { id, function: { name, arguments: written } };
}

function resultOf(id: string, api: string): object {
  if (api === 'anthropic') return { type: 'tool_result', tool_use_id: id, content: 'ok' };
  return api === 'openai'
    ? { type: 'function_call_output', call_id: id, output: 'ok' }
    : { role: 'tool', tool_call_id: id, content: 'ok' };
}

async function offered(api: (typeof APIS)[number], names: readonly string[]): Promise<object[]> {
  const tools = Object.fromEntries(names.map((name) => [name, tool({ description: name, run: () => 'ok' })]));
  const made = await toTools(createMcpServer({ name: 's', version: '1.0.0', tools }), api);
  onTestFinished(made.close);
  return made.tools as object[];
}
