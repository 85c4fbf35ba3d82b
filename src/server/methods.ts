import type { Call, Outcome } from '../protocol/call.js';
import { McpError } from '../protocol/errors.js';
import { explain } from '../schema/explain.js';
import type { Changed } from './bus.js';
import { completeArgument } from './completions.js';
import { CallContext, type ClientFacts, type Given, type Services } from './context.js';
import type { CompiledMethod } from './definitions.js';
import type { Running } from './lifespan.js';
import { listen } from './listen.js';
import type { Log } from './log.js';
import type { CallFacts } from './options.js';
import { toPromptResult } from './prompts.js';
import { readResource } from './read-resource.js';
import type { Registry } from './registry.js';
import { toolFailure } from './results.js';
import { withTimeLimit } from './time-limit.js';
import { ToolError } from './tool-error.js';
import { type CompiledTool, readArguments, runTool } from './tools.js';

export interface ServerParts {
  readonly registry: Registry;
  readonly running: Running<never>;
  readonly changed: Changed;
  readonly log: Log;
  readonly context: ((facts: CallFacts<never>) => unknown) | undefined;
  readonly methods: ReadonlyMap<string, CompiledMethod>;
}

type Handler = (call: Call) => Outcome | Promise<Outcome>;

const nothingGiven: Given<never, never> = { state: undefined as never, user: undefined as never };
const MAX_SUBSCRIBED_URIS = 1000;

/** Every method the server answers. */
export function methodTable(parts: ServerParts): ReadonlyMap<string, Handler> {
  const { registry, log } = parts;
  const { complete } = registry;

  const services: Services = {
    changed: parts.changed,
    read: async (call, uri) =>
      (await readResource(registry, uri, (found) => makeContext(call, found))).contents,
    callTool: (call, name, args) => callTool({ ...call, params: { name, arguments: args }, http: undefined }),
  };

  // Nothing is awaited where nothing has to be: most servers have neither a lifespan nor a context.
  async function prepare(call: Call): Promise<Given<never, never>> {
    const state = await parts.running.start();
    if (parts.context === undefined) return { state, user: undefined as never };
    const { auth, http } = call;
    const client = new CallContext<never, never>(call, services, nothingGiven).client as ClientFacts;
    const user = await parts.context({ auth, state, client, request: http, signal: call.signal });
    return { state, user: user as never };
  }

  const unprepared = !parts.running.needed && parts.context === undefined;

  async function makeContext<Extra extends object>(
    call: Call,
    extra?: Extra,
  ): Promise<CallContext<never, never> & Extra> {
    const context = new CallContext<never, never>(
      call,
      services,
      unprepared ? nothingGiven : await prepare(call),
    );
    return Object.assign(context, extra);
  }

  async function callTool(call: Call): Promise<Awaited<ReturnType<typeof runTool>>> {
    const tool = findTool(call);
    const reading = readArguments(tool, call);
    const input = reading instanceof Promise ? await reading : reading;
    if (!input.ok) return input.failure;
    const given = unprepared ? nothingGiven : await prepare(call);
    const { timeoutMs } = tool;
    if (timeoutMs === undefined)
      return runTool(tool, input.value, new CallContext(call, services, given), log);
    return withTimeLimit(call, timeoutMs, {
      work: (signal) =>
        runTool(tool, input.value, new CallContext(call, services, { ...given, signal }), log),
      late: () => toolFailure(`${tool.name} took longer than ${timeoutMs} ms and was stopped`),
    });
  }

  function findTool(call: Call): CompiledTool {
    const { name } = call.params;
    if (typeof name !== 'string') throw new McpError('invalid_params', 'params.name must be a string');
    const tool = registry.tools.get(name);
    if (tool === undefined) throw new McpError('invalid_params', `Unknown tool: ${name.slice(0, 128)}`);
    return tool;
  }

  async function getPrompt(call: Call): Promise<Outcome> {
    const { name, arguments: args = {} } = call.params;
    const prompt = typeof name === 'string' ? registry.prompts.get(name) : undefined;
    if (prompt === undefined)
      throw new McpError('invalid_params', `Unknown prompt: ${String(name).slice(0, 128)}`);
    const checked = await prompt.args.validate(args);
    if (!checked.ok) {
      const problem = explain(checked.issues, prompt.args, args);
      throw new McpError('invalid_params', `Invalid arguments for prompt ${prompt.name}. ${problem}`);
    }
    const value = await shown(prompt.run(checked.value, await makeContext(call)));
    return complete(toPromptResult(value, prompt.listed.description));
  }

  async function callOwn(own: CompiledMethod, call: Call): Promise<Outcome> {
    const checked = own.params && (await own.params.validate(withoutMeta(call.params)));
    if (checked?.ok === false && own.params) {
      throw new McpError(
        'invalid_params',
        `Invalid params. ${explain(checked.issues, own.params, call.params)}`,
      );
    }
    const params = checked?.ok ? checked.value : call.params;
    return complete((await shown(own.run(params, await makeContext(call)))) as object);
  }

  const table = new Map<string, Handler>([
    ['server/discover', () => registry.discover()],
    ['tools/list', ({ params }) => offered('tools').page(params['cursor'])],
    ['resources/list', ({ params }) => offered('resources').page(params['cursor'])],
    ['prompts/list', ({ params }) => offered('prompts').page(params['cursor'])],
    [
      'resources/templates/list',
      ({ params }) => {
        offered('resources');
        return registry.templates.page(params['cursor']);
      },
    ],
    [
      'tools/call',
      async (call) => {
        const result = await callTool(call);
        return complete(result, result._meta);
      },
    ],
    [
      'resources/read',
      async (call) => {
        const { uri } = call.params;
        if (typeof uri !== 'string') throw new McpError('invalid_params', 'params.uri must be a string');
        return complete(await readResource(registry, uri, (found) => makeContext(call, found)));
      },
    ],
    ['prompts/get', getPrompt],
    [
      'completion/complete',
      ({ params }) =>
        completeArgument(params, {
          prompt: (name) => registry.prompts.get(name)?.complete,
          template: (uri) => registry.templates.get(uri)?.complete,
          complete,
        }),
    ],
    [
      'subscriptions/listen',
      listen({
        bus: registry.bus,
        complete,
        publishes: (kind) => registry.announces(kind),
        maxUris: MAX_SUBSCRIBED_URIS,
      }),
    ],
  ]);
  for (const [name, own] of parts.methods) table.set(name, (call) => callOwn(own, call));
  return table;

  function offered<K extends 'tools' | 'resources' | 'prompts'>(kind: K): Registry[K] {
    if (!registry.offers(kind)) throw new McpError('method_not_found', `This server has no ${kind}`);
    return registry[kind];
  }
}

// A ToolError is meant to be read, wherever it is thrown.
async function shown<T>(value: T | Promise<T>): Promise<T> {
  try {
    return await value;
  } catch (error) {
    throw ToolError.is(error) ? new McpError('internal_error', error.message, { cause: error }) : error;
  }
}

function withoutMeta({ _meta, ...params }: Record<string, unknown>): Record<string, unknown> {
  return params;
}
