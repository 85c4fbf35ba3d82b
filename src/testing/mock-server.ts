// `mockServer`: a server that answers with fixed results and records its calls.

import { callEnded } from '../async/lifetime.js';
import { createServer, type Server } from '../index.js';
import { isObject, type JsonObject } from '../jsonrpc/message.js';
import type { Call, Dispatch, Outcome } from '../protocol/call.js';
import { type OptionTable, readOptions } from '../protocol/checks/options.js';
import { McpError } from '../protocol/errors.js';
import { nameParam } from '../protocol/tables/methods.js';
import type { Context } from '../server/context/context.js';
import { type Prompt, type PromptReturn, prompt } from '../server/define/prompt.js';
import { type Resource, resource } from '../server/define/resource.js';
import { type Tool, tool } from '../server/define/tool.js';
import { toolFailure } from '../server/results/results.js';
import { randomSecret } from './test-client/test-client.js';

/** A fixed value to return, an error to throw, or a function that does either. */
export type Mock<Input, T = MockValue> = T | Error | ((input: Input, ctx: Context) => T | Promise<T>);

/** Any value that a handler may return. With `unknown` the compiler could not tell a function from a value. */
type MockValue = string | number | boolean | null | undefined | object;

/** The arguments of a mock, unchecked. */
// biome-ignore lint/suspicious/noExplicitAny: the author of a mock knows its arguments
type AnyArguments = any;

/** A tool: its result alone, or an object with `result` and the fields for the list of tools. */
type MockTool = Mock<AnyArguments> | DescribedTool;

/** A tool with the fields for the list of tools. */
interface DescribedTool {
  /** The description in the list. */
  readonly description?: string;
  /** The JSON Schema of the arguments, which are checked against it. Default: any object. */
  readonly inputSchema?: JsonObject;
  /** The JSON Schema of the structured content. */
  readonly outputSchema?: JsonObject;
  /** The result: a value, an error, or a function. */
  readonly result: Mock<AnyArguments>;
}

/** The tools, resources, prompts and methods of a mock server. */
export interface MockDefinition {
  /** The server's name. Default: `mock`. */
  readonly name?: string;
  /** The server's instructions for models. */
  readonly instructions?: string;
  /** Tools by name. */
  readonly tools?: Readonly<Record<string, MockTool>>;
  /** Resources by URI or by URI template. */
  readonly resources?: Readonly<Record<string, Mock<AnyArguments>>>;
  /** Prompts by name. */
  readonly prompts?: Readonly<Record<string, Mock<AnyArguments, PromptReturn>>>;
  /** Methods of your own, by name. */
  readonly methods?: Readonly<Record<string, Mock<AnyArguments, object>>>;
}

/** A call that the mock server received. */
export interface MockCall {
  /** The protocol's method, such as `tools/call`. */
  readonly method: string;
  /** The name of the tool or prompt, the URI of the resource, or the id of the task; undefined for other calls. */
  readonly name: string | undefined;
  /** The parameters of the request. */
  readonly params: JsonObject;
  /** The arguments of a tool or prompt; empty for other calls. */
  readonly args: JsonObject;
}

/** A server for tests of clients. It can be used wherever any other server can. */
export interface MockServer extends Server {
  /** Every call so far, in order. */
  readonly calls: readonly MockCall[];
  /** The calls of one tool, prompt or resource, in order. */
  readonly callsTo: (name: string) => readonly MockCall[];
  /**
   * Makes calls fail from now on: those of a tool or prompt by its name, of a resource by its URI, or of a method such as
   * `tools/list`. A tool returns a result with `isError`, unless the error is an `McpError`.
   */
  readonly fail: (name: string, error: Error | string) => void;
  /** Makes only the next call fail, as `fail` does. */
  readonly failOnce: (name: string, error: Error | string) => void;
  /** Leaves calls pending until they are cancelled. */
  readonly hang: (name: string) => void;
  /** Undoes `fail`, `failOnce` and `hang`. */
  readonly heal: (name: string) => void;
}

type Trouble =
  | { readonly kind: 'hang' }
  | { readonly kind: 'fail'; readonly error: Error | string; readonly once: boolean };

const definitionTable = {
  name: { is: 'string', default: 'mock' },
  instructions: 'string',
  tools: 'object',
  resources: 'object',
  prompts: 'object',
  methods: 'object',
} as const satisfies OptionTable<MockDefinition>;

/**
 * Makes a server from fixed results and functions. It is a real server, but by default it accepts any arguments.
 * @example
 * ```ts
 * const server = mockServer({ tools: { weather: { temperature: 21 }, add: ({ a, b }) => a + b } });
 * await using client = await connect(server);
 * await client.callTool('weather', { city: 'Rome' });
 * server.callsTo('weather'); // [{ method: 'tools/call', args: { city: 'Rome' }, … }]
 * server.fail('weather', 'no data');
 * ```
 */
export function mockServer(definition: MockDefinition = {}): MockServer {
  const read = readOptions('mockServer', definition, definitionTable);
  const { name, tools = {}, resources = {}, prompts = {}, methods = {} } = read;
  const calls: MockCall[] = [];
  const troubles = new Map<string, Trouble>();

  async function observe(call: Call, next: Dispatch): Promise<Outcome> {
    const { method, params } = call;
    const target = params[nameParam(method) ?? ''];
    const args = params['arguments'];
    calls.push({
      method,
      name: typeof target === 'string' ? target : undefined,
      params,
      args: isObject(args) ? args : {},
    });
    const key = typeof target === 'string' && troubles.has(target) ? target : method;
    const trouble = troubles.get(key);
    if (trouble === undefined) return next(call);
    if (trouble.kind === 'hang') return hangUntilEnd(call);
    if (trouble.once) troubles.delete(key);
    return failWith(method, trouble.error);
  }

  const server: Server = createServer({
    name,
    version: '0.0.0',
    ...(definition.instructions !== undefined && { instructions: definition.instructions }),
    tools: mapValues(tools, mockTool),
    resources: mapValues(resources, mockResource),
    prompts: mapValues(prompts, mockPrompt),
    methods: mapValues(methods, (mock) => ({
      run: (params: object, ctx: Context) => runMock(mock, params, ctx),
    })),
    changes: true,
    secret: randomSecret(),
    use: [observe],
  });

  return {
    ...server,
    calls,
    callsTo: (target) => calls.filter((call) => call.name === target),
    fail: (key, error) => void troubles.set(key, { kind: 'fail', error, once: false }),
    failOnce: (key, error) => void troubles.set(key, { kind: 'fail', error, once: true }),
    hang: (key) => void troubles.set(key, { kind: 'hang' }),
    heal: (key) => void troubles.delete(key),
  };
}

const anything = { type: 'object' } as const;

function mockTool(mock: MockTool): Tool {
  const fields: DescribedTool = isDescribed(mock) ? mock : { result: mock };
  const { result, description, inputSchema = anything, outputSchema } = fields;
  return tool({
    ...(description !== undefined && { description }),
    input: inputSchema,
    ...(outputSchema && { output: outputSchema }),
    run: (args: unknown, ctx: Context) => runMock(result, args, ctx),
  }) as Tool;
}

function mockResource(mock: Mock<AnyArguments>): Resource {
  return resource({ read: (values, ctx) => runMock(mock, values, ctx) });
}

function mockPrompt(mock: Mock<AnyArguments, PromptReturn>): Prompt {
  return prompt({ run: (args, ctx) => runMock(mock, args, ctx) });
}

async function runMock<T>(mock: Mock<AnyArguments, T>, input: unknown, ctx: Context): Promise<T> {
  if (mock instanceof Error) throw mock;
  return typeof mock === 'function' ? (mock as (input: unknown, ctx: Context) => T)(input, ctx) : mock;
}

function isDescribed(mock: MockTool): mock is DescribedTool {
  return isObject(mock) && Object.hasOwn(mock, 'result');
}

async function hangUntilEnd(call: Call): Promise<never> {
  await callEnded(call);
  throw new McpError('cancelled', 'The call was cancelled.');
}

function failWith(method: string, error: Error | string): Outcome {
  if (McpError.is(error)) throw error;
  const message = typeof error === 'string' ? error : error.message;
  if (method !== 'tools/call') throw new McpError('internal_error', message);
  return { resultType: 'complete', ...toolFailure(message) };
}

function mapValues<T, R>(group: Readonly<Record<string, T>>, make: (value: T) => R): Record<string, R> {
  return Object.fromEntries(Object.entries(group).map(([name, value]) => [name, make(value)]));
}
