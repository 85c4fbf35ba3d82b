// @ts-check
// The server that the official suite tests: ordinary definitions, served by one call.
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { audio, createServer, embed, image, McpError, prompt, resource, ToolError, tool } from 'fullmcp';
import { serve } from 'fullmcp/node';
import { skills } from 'fullmcp/skills';

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const WAV = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=';

const contentTools = {
  test_simple_text: tool({
    description: 'Returns text',
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
    description: 'Returns text, an image and a resource',
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
    description: 'Reports its progress',
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
    description: 'Logs to a client that asked for logs',
    run(_, { log }) {
      log.info('A message for clients that asked for this level');
      log.error('Another');
      return 'Logged where asked.';
    },
  }),
  test_streaming_elicitation: tool({
    description: 'Streams notifications, and then asks',
    async run(_, { progress, log, ask }) {
      progress(1, 2);
      log.info('Halfway');
      await sleep(50);
      const { ok } = await ask('go_on', form('Go on?', { ok: { type: 'boolean' } }));
      return `Streamed: ${ok}`;
    },
  }),
  test_reconnection: tool({
    description: 'Releases the connection and finishes later',
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
    description: 'Takes an argument that clients mirror in a header',
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

const askingTools = {
  test_sampling: tool({
    description: "Asks the client's model",
    input: { type: 'object', properties: { prompt: { type: 'string' } }, required: ['prompt'] },
    async run({ prompt }, { sample }) {
      const { text } = await sample('answer', { messages: String(prompt), maxTokens: 100 });
      return `LLM response: ${text}`;
    },
  }),
  test_elicitation: tool({
    description: 'Asks the user for a name and an address',
    input: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] },
    async run({ message }, { elicit }) {
      const answer = await elicit(
        'user',
        form(String(message), {
          username: { type: 'string', description: 'Your name here' },
          email: { type: 'string', format: 'email', description: 'Your address' },
        }),
      );
      return `User response: ${JSON.stringify(answer)}`;
    },
  }),
  test_elicitation_sep1034_defaults: tool({
    description: 'Asks with a form that is filled in already',
    async run(_, { elicit }) {
      const schema = {
        type: 'object',
        properties: {
          name: { type: 'string', default: 'John Doe' },
          age: { type: 'integer', default: 30 },
          score: { type: 'number', default: 95.5 },
          status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
          verified: { type: 'boolean', default: true },
        },
      };
      return `Answer: ${JSON.stringify(await elicit('profile', { message: 'Is this right?', schema }))}`;
    },
  }),
  test_elicitation_sep1330_enums: tool({
    description: 'Asks for choices of every kind',
    async run(_, { elicit }) {
      // The suite always answers with these values.
      const options = ['option1', 'option2', 'option3'];
      const titled = ['value1', 'value2', 'value3'].map((value, at) => ({
        const: value,
        title: `Value ${at + 1}`,
      }));
      const schema = {
        type: 'object',
        properties: {
          untitledSingle: { type: 'string', enum: options },
          titledSingle: { type: 'string', oneOf: titled },
          legacyEnum: { type: 'string', enum: ['opt1', 'opt2'], enumNames: ['Option one', 'Option two'] },
          untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
          titledMulti: { type: 'array', items: { anyOf: titled } },
        },
      };
      return `Answer: ${JSON.stringify(await elicit('choices', { message: 'What shall it be?', schema }))}`;
    },
  }),
  test_input_required_result_elicitation: tool({
    description: 'Asks for a name and greets',
    async run(_, { ask }) {
      const { name } = await ask('user_name', form('What is your name?', { name: { type: 'string' } }));
      return `Hello, ${name}!`;
    },
  }),
  test_input_required_result_sampling: tool({
    description: "Asks the client's model for a capital",
    async run(_, { sample }) {
      const question = { messages: 'What is the capital of France?', maxTokens: 100 };
      return (await sample('capital_question', question)).text;
    },
  }),
  test_input_required_result_list_roots: tool({
    description: 'Asks for the open folders',
    run: async (_, { roots }) => `Roots: ${(await roots('client_roots')).map(({ uri }) => uri).join(', ')}`,
  }),
  test_input_required_result_request_state: tool({
    description: 'Asks for a confirmation',
    async run(_, { ask }) {
      const { ok } = await ask('confirm', form('Please confirm', { ok: { type: 'boolean' } }));
      return `state-ok: ${ok}`;
    },
  }),
  test_input_required_result_multiple_inputs: tool({
    description: 'Asks the user, the model and the client at once',
    async run(_, { ask, sample, roots }) {
      const [{ name }, { text }, folders] = await Promise.all([
        ask('user_name', form('What is your name?', { name: { type: 'string' } })),
        sample('greeting', { messages: 'Generate a greeting', maxTokens: 50 }),
        roots('client_roots'),
      ]);
      return `${text}, ${name}, in ${folders.length} folders`;
    },
  }),
  test_input_required_result_multi_round: tool({
    description: 'Asks twice, one question after the other',
    async run(_, { ask }) {
      const { name } = await ask('step1', form('What is your name?', { name: { type: 'string' } }));
      const { color } = await ask('step2', form('What is your color?', { color: { type: 'string' } }));
      return `${name} likes ${color}`;
    },
  }),
  test_input_required_result_tampered_state: tool({
    description: 'Asks for a confirmation whose state cannot be changed',
    async run(_, { ask }) {
      const { ok } = await ask('confirm', form('Please confirm', { ok: { type: 'boolean' } }));
      return `Confirmed: ${ok}`;
    },
  }),
  test_input_required_result_capabilities: tool({
    description: 'Asks in every way that the client supports',
    async run(_, { ask, sample, client }) {
      const question = { messages: 'Say something', maxTokens: 100 };
      const said = client.capabilities.sampling && (await sample('say', question)).text;
      const schema = { text: { type: 'string' } };
      const written =
        client.capabilities.elicitation && (await ask('write', form('Write something', schema)));
      return { said, written };
    },
  }),
};

const taskTools = {
  greet: tool({
    description: 'Greets at once',
    input: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    run: ({ name }) => `Hello, ${name}!`,
  }),
  slow_compute: tool({
    description: 'Takes a while',
    task: 'optional',
    input: { type: 'object', properties: { seconds: { type: 'number' }, label: { type: 'string' } } },
    async run({ seconds = 1, label = '' }, { signal }) {
      await sleep(Number(seconds) * 1000, undefined, { signal });
      return `Computed ${label} in ${seconds} s`;
    },
  }),
  failing_job: tool({
    description: 'Fails after a while, in a way that the model may read',
    task: 'required',
    async run(_, { signal }) {
      await sleep(1000, undefined, { signal });
      throw new ToolError('The job failed');
    },
  }),
  protocol_error_job: tool({
    description: 'Ends with a protocol error',
    task: 'optional',
    async run() {
      throw new McpError('internal_error', 'The job broke');
    },
  }),
  confirm_delete: tool({
    description: 'Asks before it deletes',
    task: 'optional',
    input: { type: 'object', properties: { filename: { type: 'string' } } },
    async run({ filename }, { elicit }) {
      const answer = await elicit('confirm', form(`Delete ${filename}?`, { confirm: { type: 'boolean' } }));
      return `${filename}: ${answer.action}`;
    },
  }),
  multi_input: tool({
    description: 'Asks two questions at once',
    task: 'optional',
    async run(_, { elicit }) {
      const answers = await Promise.all([
        elicit('name', form('Your name?', { name: { type: 'string' } })),
        elicit('confirm', form('Are you sure?', { confirm: { type: 'boolean' } })),
      ]);
      return answers.map(({ action }) => action).join(', ');
    },
  }),
  test_tool_with_task: tool({
    description: 'Asks first, and then continues as a task',
    task: { support: 'required', start: 'on-background' },
    async run(_, { ask, background }) {
      const { name } = await ask('user_name', form('What is your name?', { name: { type: 'string' } }));
      await background();
      return `Hello, ${name}!`;
    },
  }),
};

const resources = {
  'test://static-text': resource({
    name: 'static-text',
    description: 'Text that never changes',
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
    description: 'Text that clients may subscribe to',
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
  test_input_required_result_prompt: prompt({
    description: 'Asks what it is about before it says anything',
    async run(_, { ask }) {
      const question = form('What context should the prompt use?', { context: { type: 'string' } });
      return `Use this context: ${(await ask('user_context', question)).context}`;
    },
  }),
};

const server = createServer({
  name: 'fullmcp-conformance',
  version: '1.0.0',
  tools: { ...contentTools, ...notifyingTools, ...demandingTools, ...askingTools, ...taskTools },
  resources,
  prompts,
  changes: true,
  extensions: [await skills(fileURLToPath(new URL('../../examples/skills/skills', import.meta.url)))],
  secret: 'of no worth: this server only plays',
});

const { url } = await serve(server, { port: Number(process.env['PORT'] ?? 0) });
console.log(url);

/**
 * A question whose fields must all be filled in.
 * @param {string} message
 * @param {Record<string, object>} properties
 */
function form(message, properties) {
  return { message, schema: { type: 'object', properties, required: Object.keys(properties) } };
}
