import { type ModelScript, mockModel } from 'fullmcp/testing';
import { describe, expect, it, onTestFinished } from 'vitest';

const HEADERS = { 'content-type': 'application/json', 'anthropic-version': '2026-10-21' };

async function send(
  path: string,
  body: object,
  headers: Record<string, string> = HEADERS,
): Promise<{ status: number; text: string }> {
  const model = await mockModel(() => 'fine');
  onTestFinished(model.close);
  return post(model.url + path, body, headers);
}

async function post(url: string, body: object, headers: Record<string, string> = HEADERS) {
  const reply = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body), redirect: 'manual' });
  return { status: reply.status, text: await reply.text(), headers: reply.headers };
}

const MESSAGES = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] };
const USE = { type: 'tool_use', id: 'a', name: 't', input: {} };
const RESULT = { type: 'tool_result', tool_use_id: 'a', content: 'x' };
const tool = (name: string): object => ({ name, input_schema: { type: 'object' } });

describe('mockModel refuses what the real APIs refuse', () => {
  it.each([
    ['a request without a version', MESSAGES, {}, 'anthropic-version'],
    ['a request without max_tokens', { ...MESSAGES, max_tokens: undefined }, HEADERS, 'max_tokens'],
    ['a temperature', { ...MESSAGES, temperature: 0 }, HEADERS, 'temperature'],
    ['a name with a dot', { ...MESSAGES, tools: [tool('a.b')] }, HEADERS, 'tools.0.name'],
    ['two tools with one name', { ...MESSAGES, tools: [tool('a'), tool('a')] }, HEADERS, 'unique'],
    [
      'a schema without an object at its root',
      { ...MESSAGES, tools: [{ name: 'a', input_schema: { anyOf: [] } }] },
      HEADERS,
      'input_schema.type',
    ],
    [
      'a conversation that the model begins',
      { ...MESSAGES, messages: [{ role: 'assistant', content: 'x' }] },
      HEADERS,
      'first message',
    ],
    [
      'an empty text',
      { ...MESSAGES, messages: [{ role: 'user', content: [{ type: 'text', text: '' }] }] },
      HEADERS,
      'non-empty',
    ],
    [
      'a result without its call',
      { ...MESSAGES, messages: [{ role: 'user', content: [RESULT] }] },
      HEADERS,
      'does not belong',
    ],
    [
      'a call without its result',
      {
        ...MESSAGES,
        messages: [
          ...MESSAGES.messages,
          { role: 'assistant', content: [USE] },
          { role: 'user', content: 'and?' },
        ],
      },
      HEADERS,
      'has no result',
    ],
    [
      'a result behind other blocks',
      {
        ...MESSAGES,
        messages: [
          ...MESSAGES.messages,
          { role: 'assistant', content: [USE] },
          { role: 'user', content: [{ type: 'text', text: 'x' }, RESULT] },
        ],
      },
      HEADERS,
      'has no result',
    ],
  ])('Messages: %s', async (_, body, headers, says) => {
    const { status, text } = await send('/v1/messages', body, headers as Record<string, string>);
    expect([status, text]).toEqual([400, expect.stringContaining(says)]);
  });

  it('the tools of the vendors are accepted, which have a type in place of a name or a schema', async () => {
    const seen: string[][] = [];
    const model = await mockModel(({ tools }) => {
      seen.push([...tools]);
      return 'fine';
    });
    onTestFinished(model.close);
    const own = { type: 'function', name: 'bill', parameters: { type: 'object' } };
    const tools = [
      { type: 'web_search' },
      { type: 'local_shell' },
      own,
      { type: 'namespace', name: 'shop', description: 'A shop.', tools: [own, { ...own, name: 'quote' }] },
    ];
    const responses = { model: 'm', input: 'hi', tools };
    expect((await post(`${model.url}/v1/responses`, responses)).status).toBe(200);
    const search = { type: 'web_search_20250305', name: 'web_search' };
    const messages = { ...MESSAGES, tools: [search, tool('bill')] };
    expect((await post(`${model.url}/v1/messages`, messages)).status).toBe(200);
    expect(seen).toEqual([
      ['bill', 'bill', 'quote'],
      ['web_search', 'bill'],
    ]);
    const unnamed = { ...responses, tools: [{ type: 'function', parameters: { type: 'object' } }] };
    expect((await post(`${model.url}/v1/responses`, unnamed)).status).toBe(400);
    const nested = [{ type: 'namespace', name: 'shop', tools: [own, own] }];
    expect((await post(`${model.url}/v1/responses`, { ...responses, tools: nested })).text).toContain(
      'unique',
    );
  });

  it('Messages: an earlier version takes a temperature', async () => {
    const { status } = await send(
      '/v1/messages',
      { ...MESSAGES, temperature: 1 },
      { 'anthropic-version': '2023-06-01' },
    );
    expect(status).toBe(200);
  });

  it('Chat Completions: results and calls that do not belong together', async () => {
    const calls = [{ id: 'a', type: 'function', function: { name: 't', arguments: '{}' } }];
    const user = { role: 'user', content: 'hi' };
    const assistant = { role: 'assistant', content: null, tool_calls: calls };
    const path = '/v1/chat/completions';
    const stray = await send(path, { messages: [user, { role: 'tool', tool_call_id: 'a', content: '' }] });
    const open = await send(path, { messages: [user, assistant, user] });
    const fine = await send(path, {
      messages: [user, assistant, { role: 'tool', tool_call_id: 'a', content: '' }],
    });
    expect([stray.status, open.status, fine.status]).toEqual([400, 400, 200]);
  });

  it('Responses: results and calls that do not belong together', async () => {
    const call = { type: 'function_call', call_id: 'a', name: 't', arguments: '{}' };
    const output = { type: 'function_call_output', call_id: 'a', output: 'x' };
    const stray = await send('/v1/responses', { input: [output] });
    const open = await send('/v1/responses', { input: [call] });
    const fine = await send('/v1/responses', { input: [call, output] });
    expect([stray.status, open.status, fine.status]).toEqual([400, 400, 200]);
  });
});

describe('mockModel', () => {
  async function started(script: ModelScript, key?: string): Promise<string> {
    const model = await mockModel(script, key === undefined ? {} : { key });
    onTestFinished(model.close);
    return `${model.url}/v1/messages`;
  }

  it('refuses requests without the key', async () => {
    const url = await started(() => 'fine', 'sk-1');
    expect((await post(url, MESSAGES)).status).toBe(401);
    expect((await post(url, MESSAGES, { ...HEADERS, 'x-api-key': 'sk-1' })).status).toBe(200);
    expect((await post(url, MESSAGES, { ...HEADERS, authorization: 'Bearer sk-1' })).status).toBe(200);
  });

  it('replies with the page of a proxy, with a redirect, and with the time to wait', async () => {
    const url = await started([
      { fail: 502, body: '<h1>Bad gateway</h1>' },
      { fail: 302, headers: { location: 'http://127.0.0.1:1' } },
      { fail: 429, retryAfterMs: 1500 },
    ]);
    expect(await post(url, MESSAGES)).toMatchObject({ status: 502, text: '<h1>Bad gateway</h1>' });
    expect((await post(url, MESSAGES)).headers.get('location')).toBe('http://127.0.0.1:1');
    const limited = await post(url, MESSAGES);
    expect(limited.headers.get('retry-after')).toBe('2');
    expect(limited.headers.get('retry-after-ms')).toBe('1500');
  });

  it('says so when its script has no more turns, and when a turn throws', async () => {
    const url = await started([
      () => {
        throw new Error('a mistake in the test');
      },
    ]);
    expect(await post(url, MESSAGES)).toMatchObject({
      status: 500,
      text: expect.stringContaining('a mistake in the test'),
    });
    expect(await post(url, MESSAGES)).toMatchObject({
      status: 400,
      text: expect.stringContaining('no more turns'),
    });
  });

  it('sends calls as models of some servers do: without an id, with broken arguments, without tokens', async () => {
    const model = await mockModel(() => ({
      calls: [{ name: 't', id: null, args: '{"amount": 3' }],
      usage: false,
    }));
    onTestFinished(model.close);
    const { text } = await post(`${model.url}/v1/chat/completions`, {
      messages: [{ role: 'user', content: 'hi' }],
    });
    const { choices, usage } = JSON.parse(text);
    expect(usage).toBeUndefined();
    expect(choices[0].message.tool_calls).toEqual([
      { type: 'function', function: { name: 't', arguments: '{"amount": 3' } },
    ]);
  });

  it('says which address it does not have', async () => {
    const url = await started(() => 'fine');
    expect(await post(`${url}/batches`, {})).toMatchObject({
      status: 404,
      text: expect.stringContaining('POST /v1/messages/batches'),
    });
  });

  it('is refused with a script that is not one', async () => {
    await expect(mockModel('hello' as never)).rejects.toThrow('needs a script');
    await expect(mockModel([], { seeds: 3 } as never)).rejects.toThrow('seed');
  });
});
