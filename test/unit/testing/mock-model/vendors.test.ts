import Anthropic from '@anthropic-ai/sdk';
import { type MockModel, type ModelScript, type ModelTurn, mockModel } from 'fullmcp/testing';
import OpenAI from 'openai';
import { describe, expect, it, onTestFinished } from 'vitest';

// The vendors' own SDKs judge what the mock says: they read every reply, whole and streamed.

const SCHEMA = { type: 'object' as const, properties: { amount: { type: 'number' } } };
const NAMES = ['create_invoice', 'notify'];
const ASK = 'Bill Ädä 30 euros 💶';

/** A reply as an SDK has read it. */
interface Read {
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly args: unknown; readonly id: string }[];
  readonly stop: string | null | undefined;
  readonly tokens: readonly [input: number, output: number];
}

interface Peer {
  readonly api: string;
  readonly ask: (model: MockModel, stream: boolean) => Promise<Read>;
  /** Calls the tools of the first reply, and returns the second one. */
  readonly twice: (model: MockModel) => Promise<string>;
}

const anthropic = (model: MockModel): Anthropic =>
  new Anthropic({ baseURL: model.url, apiKey: 'test', maxRetries: 2 });
const openai = (model: MockModel): OpenAI =>
  new OpenAI({ baseURL: `${model.url}/v1`, apiKey: 'test', maxRetries: 2 });

const messages: Peer = {
  api: 'anthropic',
  async ask(model, stream) {
    const request = {
      model: 'm',
      max_tokens: 100,
      messages: [{ role: 'user' as const, content: ASK }],
      tools: NAMES.map((name) => ({ name, input_schema: SCHEMA })),
    };
    const api = anthropic(model).messages;
    const reply = stream ? await api.stream(request).finalMessage() : await api.create(request);
    return {
      text: reply.content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
      calls: reply.content.flatMap((block) =>
        block.type === 'tool_use' ? [{ name: block.name, args: block.input, id: block.id }] : [],
      ),
      stop: reply.stop_reason,
      tokens: [
        reply.usage.input_tokens + (reply.usage.cache_read_input_tokens ?? 0),
        reply.usage.output_tokens,
      ],
    };
  },
  async twice(model) {
    const api = anthropic(model).messages;
    const first: Anthropic.MessageParam = { role: 'user', content: ASK };
    const request = { model: 'm', max_tokens: 100 };
    const { content } = await api.create({ ...request, messages: [first] });
    const results = content.flatMap((block): Anthropic.ToolResultBlockParam[] =>
      block.type === 'tool_use' ? [{ type: 'tool_result', tool_use_id: block.id, content: 'billed' }] : [],
    );
    const reply = await api.create({
      ...request,
      messages: [first, { role: 'assistant', content }, { role: 'user', content: results }],
    });
    return reply.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  },
};

const responses: Peer = {
  api: 'openai',
  async ask(model, stream) {
    const request = {
      model: 'm',
      input: ASK,
      tools: NAMES.map((name) => ({
        type: 'function' as const,
        name,
        parameters: SCHEMA,
        strict: false,
      })),
    };
    const api = openai(model).responses;
    const reply = stream ? await api.stream(request).finalResponse() : await api.create(request);
    return {
      text: reply.output_text,
      calls: reply.output.flatMap((item) =>
        item.type === 'function_call'
          ? [{ name: item.name, args: JSON.parse(item.arguments), id: item.call_id }]
          : [],
      ),
      stop: reply.status,
      tokens: [reply.usage?.input_tokens ?? -1, reply.usage?.output_tokens ?? -1],
    };
  },
  async twice(model) {
    const api = openai(model).responses;
    const input: OpenAI.Responses.ResponseInputItem[] = [{ role: 'user', content: ASK }];
    const { output } = await api.create({ model: 'm', input });
    const results = output.flatMap((item) =>
      item.type === 'function_call'
        ? [{ type: 'function_call_output' as const, call_id: item.call_id, output: 'billed' }]
        : [],
    );
    const reply = await api.create({
      model: 'm',
      input: [...input, ...(output as OpenAI.Responses.ResponseInputItem[]), ...results],
    });
    return reply.output_text;
  },
};

const chat: Peer = {
  api: 'openai-chat',
  async ask(model, stream) {
    const request = {
      model: 'm',
      messages: [{ role: 'user' as const, content: ASK }],
      tools: NAMES.map((name) => ({ type: 'function' as const, function: { name, parameters: SCHEMA } })),
    };
    const api = openai(model).chat.completions;
    const reply = stream
      ? await api.stream({ ...request, stream_options: { include_usage: true } }).finalChatCompletion()
      : await api.create(request);
    const [choice] = reply.choices;
    return {
      text: choice?.message.content ?? '',
      calls: (choice?.message.tool_calls ?? []).map((call) => {
        const one = call as OpenAI.ChatCompletionMessageFunctionToolCall;
        return { name: one.function.name, args: JSON.parse(one.function.arguments), id: one.id };
      }),
      stop: choice?.finish_reason,
      tokens: [reply.usage?.prompt_tokens ?? -1, reply.usage?.completion_tokens ?? -1],
    };
  },
  async twice(model) {
    const api = openai(model).chat.completions;
    const said: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: ASK }];
    const { choices } = await api.create({ model: 'm', messages: said });
    const message = choices[0]?.message as OpenAI.ChatCompletionMessage;
    const results = (message.tool_calls ?? []).map((call) => ({
      role: 'tool' as const,
      tool_call_id: call.id,
      content: 'billed',
    }));
    const reply = await api.create({ model: 'm', messages: [...said, message, ...results] });
    return reply.choices[0]?.message.content ?? '';
  },
};

async function started(script: ModelScript, seed = 1): Promise<MockModel> {
  const model = await mockModel(script, { seed });
  onTestFinished(model.close);
  return model;
}

const TURN: ModelTurn = {
  say: 'Ein Moment — 💶 für Ädä.\n',
  calls: [
    { name: 'create_invoice', args: { amount: 30, note: 'für "Ädä" \\ 💶' } },
    { name: 'notify', args: {} },
  ],
  usage: { input: 110, cached: 100, output: 5 },
};

describe.each([messages, responses, chat])('mockModel for the SDK of $api', ({ api, ask, twice }) => {
  it.each([false, true])('sends text and parallel calls that the SDK reads (stream: %s)', async (stream) => {
    // Other seeds split the stream at other bytes.
    for (const seed of [1, 2, 3, 4, 5]) {
      const model = await started([TURN], seed);
      expect(await ask(model, stream)).toEqual({
        text: 'Ein Moment — 💶 für Ädä.\n',
        calls: [
          {
            name: 'create_invoice',
            args: { amount: 30, note: 'für "Ädä" \\ 💶' },
            id: 'call_1_1',
          },
          { name: 'notify', args: {}, id: 'call_1_2' },
        ],
        stop: { anthropic: 'tool_use', openai: 'completed', 'openai-chat': 'tool_calls' }[api],
        tokens: [110, 5],
      });
      expect(model.requests[0]).toMatchObject({ api, ask: ASK, tools: NAMES, results: [] });
      expect(model.left).toBe(0);
    }
  });

  it('tells the script the results of the calls', async () => {
    const model = await started([TURN, ({ results, ask: said }) => `${said}: ${results[1]?.text}`]);
    expect(await twice(model)).toBe(`${ASK}: billed`);
  });

  it.each([false, true])(
    'fails as told, and the SDK retries as long as it should (stream: %s)',
    async (stream) => {
      const model = await started([
        { fail: 429, retryAfterMs: 1 },
        { fail: 529, retryAfterMs: 1 },
        'at last',
      ]);
      expect((await ask(model, stream)).text).toBe('at last');
      expect(model.requests).toHaveLength(3);
      const refused = await started([{ fail: 401, message: 'no such key' }]);
      await expect(ask(refused, stream)).rejects.toThrow('no such key');
      expect(refused.requests).toHaveLength(1);
    },
  );

  it('breaks a stream in its middle, and reports an error in it', async () => {
    const cut = await started(() => ({ ...TURN, ends: 'cut', endsAfter: 4 }));
    await expect(ask(cut, true)).rejects.toThrow();
    const failing = await started(() => ({ ...TURN, ends: 'error', endsAfter: 4 }));
    await expect(ask(failing, true)).rejects.toThrow();
    const half = await started(() => ({ ...TURN, ends: 'cut' }));
    await expect(ask(half, false)).rejects.toThrow();
  });
});

describe('mockModel', () => {
  it('hangs before a reply and in the middle of one until the client gives up', async () => {
    const model = await started([{ hang: true }, { say: 'never whole', ends: 'hang' }]);
    const impatient = { maxRetries: 0, timeout: 300 };
    const request = { model: 'm', max_tokens: 9, messages: [{ role: 'user' as const, content: 'hi' }] };
    await expect(anthropic(model).messages.create(request, impatient)).rejects.toThrow('timed out');
    const stream = anthropic(model).messages.stream(request);
    const seen: string[] = [];
    const reading = (async () => {
      for await (const { type } of stream) {
        seen.push(type);
        if (type === 'message_start') stream.abort();
      }
    })();
    await expect(reading).rejects.toThrow('aborted');
    expect(seen).toContain('message_start');
  });

  it('sends thoughts with a signature, and refuses one that was changed', async () => {
    const model = await started(() => ({ thinking: 'Ada is a customer.', say: 'Done.' }));
    const api = anthropic(model).messages;
    const first: Anthropic.MessageParam = { role: 'user', content: 'hi' };
    const streamed = await api.stream({ model: 'm', max_tokens: 9, messages: [first] }).finalMessage();
    const whole = await api.create({ model: 'm', max_tokens: 9, messages: [first] });
    expect(streamed.content).toEqual(whole.content);
    const send = (content: Anthropic.ContentBlockParam[]): Promise<unknown> =>
      api.create({
        model: 'm',
        max_tokens: 9,
        messages: [first, { role: 'assistant', content }, { role: 'user', content: 'and?' }],
      });
    await expect(send(whole.content as Anthropic.ContentBlockParam[])).resolves.toBeDefined();
    const [thought, ...rest] = whole.content as Anthropic.ContentBlockParam[];
    await expect(send([{ ...thought, thinking: 'other' } as never, ...rest])).rejects.toThrow('signature');
  });
});
