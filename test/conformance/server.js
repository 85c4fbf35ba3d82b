// @ts-check
// The server that the official suite asks its questions of: ordinary definitions, served by one call.
import { setTimeout as sleep } from 'node:timers/promises';
import { audio, createServer, embed, image, prompt, resource, ToolError, tool } from 'fullmcp';
import { serve } from 'fullmcp/node';

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const WAV = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=';

const contentTools = {
  test_simple_text: tool({
    description: 'Returns a text',
    run: () => 'This is a simple text response for testing.',
  }),
  test_image_content: tool({
    description: 'Returns an image',
    run: () => image(PNG, 'image/png'),
  }),
  test_audio_content: tool({
    description: 'Returns a sound',
    run: () => audio(WAV, 'audio/wav'),
  }),
  test_embedded_resource: tool({
    description: 'Returns a resource with its contents',
    run: () =>
      embed('test://embedded-resource', 'This is an embedded resource content.', { mimeType: 'text/plain' }),
  }),
  test_multiple_content_types: tool({
    description: 'Returns a text, an image and a resource',
    run: () => ({
      content: [
        { type: 'text', text: 'Multiple content types test:' },
        image(PNG, 'image/png'),
        embed('test://mixed-content-resource', '{"test":"data","value":123}', {
          mimeType: 'application/json',
        }),
      ],
    }),
  }),
  test_error_handling: tool({
    description: 'Fails in a way that the model may read',
    run() {
      throw new ToolError('This tool intentionally returns an error for testing');
    },
  }),
};

const notifyingTools = {
  test_tool_with_progress: tool({
    description: 'Tells how far it is',
    async run(_, { progress }) {
      for (const done of [0, 50, 100]) {
        progress(done, 100, `${done} of 100`);
        await sleep(50);
      }
      return 'Done.';
    },
  }),
  test_tool_with_logging: tool({
    description: 'Logs while it works',
    async run(_, { log }) {
      for (const line of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
        log.info(line);
        await sleep(50);
      }
      return 'Logged.';
    },
  }),
  test_logging_tool: tool({
    description: 'Logs to whoever asked for it',
    run(_, { log }) {
      log.info('A message for clients that asked for this level');
      log.error('Another');
      return 'Logged where asked.';
    },
  }),
  test_streaming_elicitation: tool({
    description: 'Streams notifications before its result',
    async run(_, { progress, log }) {
      progress(1, 2);
      log.info('Halfway');
      await sleep(50);
      progress(2, 2);
      return 'Streamed.';
    },
  }),
  test_reconnection: tool({
    description: 'Lets the connection go and finishes later',
    async run(_, { release }) {
      release();
      await sleep(100);
      return 'Finished after the connection was released.';
    },
  }),
  test_trigger_tool_change: tool({
    description: 'Announces that the tools changed',
    run(_, { changed }) {
      changed.tools();
      return 'Announced.';
    },
  }),
  test_trigger_prompt_change: tool({
    description: 'Announces that the prompts changed',
    run(_, { changed }) {
      changed.prompts();
      return 'Announced.';
    },
  }),
};

const demandingTools = {
  test_missing_capability: tool({
    description: 'Serves only clients that can sample',
    run(_, { client }) {
      client.require('sampling');
      return 'The client can sample.';
    },
  }),
  test_x_mcp_header: tool({
    description: 'Takes an argument that clients repeat as a header',
    input: {
      type: 'object',
      properties: { region: { type: 'string', 'x-mcp-header': 'Region' }, level: { type: 'integer' } },
    },
    run: ({ region }) => `Region: ${region ?? 'none'}`,
  }),
  json_schema_2020_12_tool: tool({
    description: 'Has an input schema that uses much of JSON Schema 2020-12',
    input: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: {
        address: {
          $anchor: 'addressDef',
          type: 'object',
          properties: { street: { type: 'string' }, city: { type: 'string' } },
        },
      },
      properties: {
        name: { type: 'string' },
        address: { $ref: '#/$defs/address' },
        contactMethod: { type: 'string', enum: ['phone', 'email'] },
        phone: { type: 'string' },
        email: { type: 'string' },
      },
      allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
      if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { required: ['phone'] },
      else: { required: ['email'] },
      additionalProperties: false,
    },
    run: (input) => input,
  }),
};

const resources = {
  'test://static-text': resource({
    name: 'static-text',
    description: 'A text that never changes',
    mimeType: 'text/plain',
    read: () => 'This is the content of the static text resource.',
  }),
  'test://static-binary': resource({
    name: 'static-binary',
    description: 'An image that never changes',
    mimeType: 'image/png',
    read: () => Buffer.from(PNG, 'base64'),
  }),
  'test://template/{id}/data': resource({
    name: 'template',
    description: 'Data for any id',
    mimeType: 'application/json',
    read: ({ id }) => ({ id, templateTest: true, data: `Data for ID: ${id}` }),
  }),
  'test://watched-resource': resource({
    name: 'watched-resource',
    description: 'A text that clients may subscribe to',
    mimeType: 'text/plain',
    read: () => 'Watched resource content.',
  }),
};

const prompts = {
  test_simple_prompt: prompt({
    description: 'One message',
    run: () => 'This is a simple prompt for testing.',
  }),
  test_prompt_with_arguments: prompt({
    description: 'A message made from two arguments',
    args: {
      type: 'object',
      properties: {
        arg1: { type: 'string', description: 'The first' },
        arg2: { type: 'string', description: 'The second' },
      },
      required: ['arg1', 'arg2'],
    },
    complete: {
      arg1: (prefix) => ['testValue1', 'testValue2'].filter((value) => value.startsWith(prefix)),
    },
    run: ({ arg1, arg2 }) => `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`,
  }),
  test_prompt_with_embedded_resource: prompt({
    description: 'A resource and what to do with it',
    args: {
      type: 'object',
      properties: { resourceUri: { type: 'string', description: 'The URI to show' } },
      required: ['resourceUri'],
    },
    run: ({ resourceUri }) => [
      embed(String(resourceUri), 'Embedded resource content for testing.', { mimeType: 'text/plain' }),
      'Please process the embedded resource above.',
    ],
  }),
  test_prompt_with_image: prompt({
    description: 'An image and what to do with it',
    run: () => [image(PNG, 'image/png'), 'Please analyze the image above.'],
  }),
};

const server = createServer({
  name: 'fullmcp-conformance',
  version: '1.0.0',
  tools: { ...contentTools, ...notifyingTools, ...demandingTools },
  resources,
  prompts,
  changes: true,
});

const { url } = await serve(server, { port: 0 });
console.log(url);
