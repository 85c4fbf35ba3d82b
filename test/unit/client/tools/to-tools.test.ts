import type Anthropic from '@anthropic-ai/sdk';
import { createServer, embed, image, McpError, resourceLink, ToolError, tool } from 'fullmcp';
import { testClient } from 'fullmcp/testing';
import { toolSearch, toTools } from 'fullmcp/tools';
import type OpenAI from 'openai';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';

const quiet = { version: '1.0.0', secret: 'x'.repeat(32), logger: () => undefined };
// Their types do not pass the settings of this project, which has no `skipLibCheck`; ai-sdk-types.test.ts compiles against them.
const { generateText, stepCountIs } = await import('ai' as string);
const { MockLanguageModelV3 } = await import('ai/test' as string);
const png = 'iVBORw0KGgo=';

const server = createServer({
  ...quiet,
  name: 'office',
  tools: {
    forecast: tool({
      description: 'The weather',
      input: z.object({ city: z.string() }),
      output: z.object({ sky: z.string() }),
      run: ({ city }) => ({ sky: `sunny in ${city}` }),
    }),
    chart: tool({
      title: 'Draws a chart',
      run: () => ['Here it is', image(Buffer.from(png, 'base64'), 'image/png')],
    }),
    papers: tool({
      run: () => [
        embed('files://a.pdf', new Uint8Array([37, 80]), { mimeType: 'application/pdf' }),
        embed('files://a.zip', new Uint8Array([80, 75]), { mimeType: 'application/zip' }),
        embed('files://a.txt', 'some words'),
        resourceLink('files://b', { name: 'b' }),
      ],
    }),
    nothing: tool({ run: () => undefined }),
    empty: tool({ run: () => '' }),
    fails: tool({
      run: () => {
        throw new ToolError('There is no paper left.');
      },
    }),
    refuses: tool({
      run: () => {
        throw new McpError('invalid_params', 'Not like this');
      },
    }),
    'files.read': tool({ run: () => 'dotted' }),
    files_read: tool({ run: () => 'plain' }),
    [`long_${'x'.repeat(90)}`]: tool({ run: () => 'long' }),
    either: tool({
      input: {
        $defs: {
          byId: {
            type: 'object',
            properties: { id: { type: 'integer' }, kind: { type: 'string' } },
            required: ['id', 'kind'],
          },
        },
        type: 'object',
        anyOf: [
          { $ref: '#/$defs/byId' },
          { properties: { name: { type: 'string' }, kind: { type: 'integer' } }, required: ['name', 'kind'] },
        ],
      },
      run: (input) => JSON.stringify(input),
    }),
  },
});

describe('toTools for Anthropic', () => {
  it('has the types of the SDK, and definitions that the API accepts', async () => {
    const { tools, run, close } = await toTools(server, 'anthropic');
    expectTypeOf(tools).toExtend<Anthropic.Messages.Tool[]>();
    expectTypeOf(run).parameter(0).toExtend<object>();
    expectTypeOf<Anthropic.Messages.ToolUseBlock>().toExtend<Parameters<typeof run>[0]>();
    expectTypeOf<Awaited<ReturnType<typeof run>>>().toExtend<Anthropic.Messages.ToolResultBlockParam>();
    for (const { name, input_schema } of tools) {
      expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
      expect(input_schema.type).toBe('object');
      for (const keyword of ['anyOf', 'oneOf', 'allOf', '$schema'])
        expect(input_schema).not.toHaveProperty(keyword);
    }
    expect(new Set(tools.map(({ name }) => name)).size).toBe(11);
    expect(tools.find(({ name }) => name === 'chart')?.description).toBe('Draws a chart');
    const either = tools.find(({ name }) => name === 'either')?.input_schema;
    expect(either).toMatchObject({
      properties: {
        id: { type: 'integer' },
        name: { type: 'string' },
        kind: { anyOf: [{ type: 'string' }, { type: 'integer' }] },
      },
      required: ['kind'],
    });
    await close();
  });

  it('returns text, images, documents, failures and emptiness as the API takes them', async () => {
    await using client = await testClient(server);
    const { tools, run } = await toTools(client, 'anthropic');
    const use = (name: string, input: unknown = {}) => run({ id: 'u1', name, input });
    expect(await use('forecast', { city: 'Rome' })).toEqual({
      type: 'tool_result',
      tool_use_id: 'u1',
      content: [{ type: 'text', text: '{"sky":"sunny in Rome"}' }],
      is_error: false,
    });
    expect((await use('chart')).content[1]).toEqual({
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data: png },
    });
    const papers = await use('papers');
    expect(papers.content.map(({ type }) => type)).toEqual(['document', 'text', 'text', 'text']);
    expect(papers.content[1]).toEqual({
      type: 'text',
      text: '(files://a.zip, application/zip, cannot be shown here)',
    });
    expect((await use('nothing')).content).toEqual([{ type: 'text', text: '(no content)' }]);
    expect((await use('empty')).content).toEqual([{ type: 'text', text: '(empty)' }]);
    const failure = { is_error: true, content: [{ type: 'text', text: 'There is no paper left.' }] };
    expect(await use('fails')).toMatchObject(failure);
    expect(await use('refuses')).toMatchObject({ is_error: true, content: [{ text: 'Not like this' }] });
    expect(await use('forecast', { town: 'Rome' })).toMatchObject({ is_error: true });
    expect(await use('forecast', 'Rome')).toMatchObject({ is_error: true });
    expect((await use('forcast')).content).toEqual([
      { type: 'text', text: 'There is no tool "forcast". Did you mean "forecast"?' },
    ]);
    const dotted = tools.find(({ name }) => /^files_read_\w{7}$/.test(name))?.name as string;
    expect((await use(dotted)).content).toEqual([{ type: 'text', text: 'dotted' }]);
    const plain = tools.find(({ name }) => name === 'files_read')?.name as string;
    expect((await use(plain)).content).toEqual([{ type: 'text', text: 'plain' }]);
    const long = tools.find(({ name }) => name.startsWith('long_'))?.name as string;
    expect((await use(long)).content).toEqual([{ type: 'text', text: 'long' }]);
  });

  it('rejects if the program has to do something, not the model', async () => {
    const client = await testClient(server);
    const { run } = await toTools(client, 'anthropic');
    const signal = AbortSignal.abort();
    await expect(run({ id: 'u', name: 'chart', input: {} }, { signal })).rejects.toMatchObject({
      code: 'cancelled',
    });
    await client.close();
    await expect(run({ id: 'u', name: 'chart', input: {} })).rejects.toMatchObject({
      code: 'connection_closed',
    });
  });
});

describe('toTools for OpenAI', () => {
  it('has the types of the SDK and the results of the Responses API', async () => {
    const { tools, run, close } = await toTools(server, 'openai');
    expectTypeOf(tools).toExtend<OpenAI.Responses.FunctionTool[]>();
    expectTypeOf<OpenAI.Responses.ResponseFunctionToolCall>().toExtend<Parameters<typeof run>[0]>();
    expectTypeOf<Awaited<ReturnType<typeof run>>>().toExtend<OpenAI.Responses.ResponseInputItem>();
    const call = (name: string, args = '{}') => run({ call_id: 'c1', name, arguments: args });
    expect(await call('chart')).toEqual({
      type: 'function_call_output',
      call_id: 'c1',
      output: [
        { type: 'input_text', text: 'Here it is' },
        { type: 'input_image', image_url: `data:image/png;base64,${png}`, detail: 'auto' },
      ],
    });
    expect((await call('papers')).output[0]).toMatchObject({ type: 'input_file', filename: 'a.pdf' });
    expect((await call('fails', '')).output).toEqual([
      { type: 'input_text', text: 'The tool failed:' },
      { type: 'input_text', text: 'There is no paper left.' },
    ]);
    expect((await call('forecast', '{"city":')).output[1]).toMatchObject({
      text: 'The arguments of forecast must be a JSON object.',
    });
    await close();
  });

  it('has the types and the results of Chat Completions, which take only text', async () => {
    const { tools, run, close } = await toTools(server, 'openai-chat');
    expectTypeOf(tools).toExtend<OpenAI.Chat.ChatCompletionFunctionTool[]>();
    expectTypeOf<OpenAI.Chat.ChatCompletionMessageFunctionToolCall>().toExtend<Parameters<typeof run>[0]>();
    expectTypeOf<Awaited<ReturnType<typeof run>>>().toExtend<OpenAI.Chat.ChatCompletionToolMessageParam>();
    expect(await run({ id: 'c1', function: { name: 'chart', arguments: '' } })).toEqual({
      role: 'tool',
      tool_call_id: 'c1',
      content: 'Here it is\n(image, image/png, cannot be shown here)',
    });
    await close();
  });
});

describe('toTools for the AI SDK', () => {
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  };
  const calls = (toolName: string, input: object) => ({
    content: [{ type: 'tool-call' as const, toolCallId: 'c1', toolName, input: JSON.stringify(input) }],
    finishReason: { unified: 'tool-calls' as const, raw: undefined },
    usage,
    warnings: [],
  });
  const says = (text: string) => ({
    content: [{ type: 'text' as const, text }],
    finishReason: { unified: 'stop' as const, raw: undefined },
    usage,
    warnings: [],
  });

  async function converse(tools: object, toolName: string, input: object) {
    const replies = [calls(toolName, input), says('done')];
    const model = new MockLanguageModelV3({ doGenerate: async () => replies.shift() as never });
    const { text } = await generateText({ model, tools, prompt: 'go', stopWhen: stepCountIs(3) });
    expect(text).toBe('done');
    const [first, second] = model.doGenerateCalls;
    const definitions: { name: string }[] = first.tools;
    return { definitions, results: second.prompt.at(-1).content as unknown };
  }

  it('runs in generateText: the model gets the definitions, and the result as content', async () => {
    const { tools, close } = await toTools(server, 'ai-sdk');
    const { definitions, results } = await converse(tools, 'chart', {});
    expect(definitions).toHaveLength(11);
    expect(definitions.find(({ name }) => name === 'forecast')).toMatchObject({
      description: 'The weather',
      inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    });
    expect(results).toMatchObject([
      {
        type: 'tool-result',
        output: {
          type: 'content',
          value: [
            { type: 'text', text: 'Here it is' },
            { type: 'image-data', data: png, mediaType: 'image/png' },
          ],
        },
      },
    ]);
    await close();
  });

  it('tells the model of a failure', async () => {
    const { tools, close } = await toTools(server, 'ai-sdk');
    const { results } = await converse(tools, 'fails', {});
    expect(results).toMatchObject([{ output: { type: 'error-text', value: 'There is no paper left.' } }]);
    await close();
  });

  it('lets the model search', async () => {
    await using client = await testClient(server);
    const { tools } = await toTools(await toolSearch(client), 'ai-sdk');
    const { definitions, results } = await converse(tools, 'search_tools', { query: 'weather' });
    expect(definitions.map(({ name }) => name)).toEqual(['search_tools', 'call_tool']);
    expect(JSON.stringify(results)).toContain('forecast');
    const args = { name: 'forecast', arguments: { city: 'Rome' } };
    expect(JSON.stringify((await converse(tools, 'call_tool', args)).results)).toContain('sunny in Rome');
  });
});

describe('toTools', () => {
  it('explains mistakes', async () => {
    await expect(toTools(server, 'gemini' as never)).rejects.toThrow(
      /"gemini" is not an API. Known: anthropic/,
    );
    await expect(toTools(undefined as never, 'openai')).rejects.toThrow(/needs a client/);
  });
});
