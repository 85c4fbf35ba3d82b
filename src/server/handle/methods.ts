import type { Call, Outcome } from '../../protocol/call.js';
import { McpError } from '../../protocol/errors.js';
import { explain } from '../../schema/explain/explain.js';
import { type InputRequired, isInputRequired } from '../asking/input-required.js';
import { Replay } from '../asking/replay.js';
import type { Run } from '../asking/run.js';
import type { CompiledMethod } from '../catalog/compile.js';
import { listResources } from '../catalog/list-resources.js';
import { type CompiledPrompt, type GetPromptResult, toPromptResult } from '../catalog/prompts.js';
import { type Registry, unknownName } from '../catalog/registry.js';
import type { CallContext } from '../context/call-context.js';
import type { Context } from '../context/context.js';
import type { HandlerRun } from '../context/handler-run.js';
import type { ContextParts } from '../context/run-inputs.js';
import { toMethodResult } from '../results/results.js';
import { ToolError } from '../results/tool-error.js';
import type { RunOnce } from '../state/idempotency.js';
import type { Logger } from '../state/log.js';
import { type ToolCalls, toolCalls } from './call-tool.js';
import { completeArgument } from './complete.js';
import { listen } from './listen.js';
import { type ReadResourceResult, readResource } from './read-resource.js';
import { createHandlerRunner, type HandlerRunnerParts } from './run-handler.js';
import type { TaskHost } from './task-host.js';

export interface ServerParts extends Omit<HandlerRunnerParts, 'complete'> {
  readonly registry: Registry;
  readonly changed: ContextParts['changed'];
  readonly log: Logger;
  readonly methods: ReadonlyMap<string, CompiledMethod>;
  readonly runOnce: RunOnce;
  /** Makes the host that runs tools as tasks. */
  readonly tasks: ((restartTask: ToolCalls['restartTask']) => TaskHost) | undefined;
}

type Handler = (call: Call) => Outcome | Promise<Outcome>;

export interface MethodTable {
  readonly methods: ReadonlyMap<string, Handler>;
  readonly tasks: TaskHost | undefined;
}

/** Every method the server answers. */
export function methodTable(parts: ServerParts): MethodTable {
  const { registry, log } = parts;
  const { complete } = registry;
  const runner = createHandlerRunner({ ...parts, complete }, () => contextParts);
  const { runHandler, runNested } = runner;
  const tools = toolCalls({ registry, runner, tasks: () => tasks, runOnce: parts.runOnce });
  const tasks = parts.tasks?.(tools.restartTask);

  const contextParts: ContextParts = {
    newReplay: () => new Replay(undefined, { maxBytes: parts.seal.maxBytes }),
    changed: parts.changed,
    async read({ call, run, inputs }, uri) {
      const work = (ctx: CallContext<never, never>) => withToolErrors(readResource(registry, uri, ctx));
      const result = await runNested(call, run, work, inputs);
      if (isInputRequired(result))
        throw new TypeError('A resource that returns inputRequired cannot be read from a handler');
      return result.contents;
    },
    callTool: tools.callNested,
  };

  function getPrompt(call: Call): Outcome | Promise<Outcome> {
    const { name } = call.params;
    if (typeof name !== 'string') throw new McpError('invalid_params', 'params.name must be a string');
    const prompt = registry.prompts.get(name);
    if (prompt === undefined) throw unknownName('prompt', name, registry.prompts.names());
    return runHandler(call, promptRun, prompt);
  }

  const promptRun: HandlerRun<CompiledPrompt, GetPromptResult | InputRequired> = {
    target: ({ params: { name, arguments: args = {} } }) => ({ name: name as string, args }),
    async run(prompt, ctx, { params: { arguments: args = {} } }) {
      const checked = await prompt.args.validate(args);
      if (!checked.ok) {
        const problem = explain(checked.issues, prompt.args, args);
        throw new McpError('invalid_params', `Invalid arguments for prompt ${prompt.name}. ${problem}`);
      }
      const value = await withToolErrors(prompt.run(checked.value, ctx));
      return isInputRequired(value) ? value : toPromptResult(value, prompt.listed.description);
    },
    finish: complete,
  };

  function read(call: Call): Outcome | Promise<Outcome> {
    const { uri } = call.params;
    if (typeof uri !== 'string') throw new McpError('invalid_params', 'params.uri must be a string');
    return runHandler(call, resourceRun, uri);
  }

  const resourceRun: HandlerRun<string, ReadResourceResult | InputRequired> = {
    target: ({ params: { uri } }) => ({ name: uri as string, args: undefined }),
    run: (uri, ctx) => withToolErrors(readResource(registry, uri, ctx)),
    finish: complete,
  };

  async function callOwn(own: CompiledMethod, call: Call): Promise<Outcome> {
    const checked = own.params && (await own.params.validate(withoutMeta(call.params)));
    if (checked?.ok === false && own.params) {
      throw new McpError(
        'invalid_params',
        `Invalid params. ${explain(checked.issues, own.params, call.params)}`,
      );
    }
    const params = checked?.ok ? checked.value : call.params;
    return complete(
      toMethodResult(await runNested(call, cannotAsk, (ctx) => withToolErrors(own.run(params, ctx)))),
    );
  }

  function list(call: Call): Outcome | Promise<Outcome> {
    const own = offered('resources');
    if (!registry.listsPerCaller()) return own.page(call.params['cursor']);
    return withToolErrors(listResources(registry, call, (made, look) => runNested(made, cannotAsk, look)));
  }

  function listTemplates(call: Call): Outcome {
    offered('resources');
    return registry.templates.page(call.params['cursor']);
  }

  function offered<K extends 'tools' | 'resources' | 'prompts'>(kind: K): Registry[K] {
    if (!registry.offers(kind)) throw new McpError('method_not_found', `This server has no ${kind}`);
    return registry[kind];
  }

  const completionSources = {
    prompt: (name: string) => registry.prompts.get(name)?.complete,
    template: (uri: string) => registry.templates.get(uri)?.complete,
    complete,
    within: <T>(call: Call, look: (ctx: Context) => Promise<T>) => runNested(call, cannotAsk, look),
  };
  const publishes = (kind: Parameters<Registry['announces']>[0]): boolean => registry.announces(kind);

  const methods = new Map<string, Handler>([
    ['server/discover', () => registry.discover()],
    ['tools/list', ({ params }) => offered('tools').page(params['cursor'])],
    ['resources/list', list],
    ['prompts/list', ({ params }) => offered('prompts').page(params['cursor'])],
    ['resources/templates/list', listTemplates],
    ['tools/call', tools.callTool],
    ['resources/read', async (call) => read(call)],
    ['prompts/get', async (call) => getPrompt(call)],
    ['completion/complete', (call) => withToolErrors(completeArgument(call, completionSources))],
    ['subscriptions/listen', listen({ bus: registry.bus, complete, publishes, tasks, log })],
    ...[...parts.methods].map(([name, own]): [string, Handler] => [name, (call) => callOwn(own, call)]),
    ...(tasks === undefined
      ? []
      : [...tasks.methods].map(([name, serve]): [string, Handler] => [name, offeredTask(serve)])),
  ]);
  return { methods, tasks };

  function offeredTask(serve: Handler): Handler {
    return async function task(call) {
      if (registry.offersTasks()) return serve(call);
      throw new McpError('method_not_found', 'This server has no tools that run as tasks');
    };
  }
}

// Spec, Multi Round-Trip Requests: only tools, prompts and resources may ask.
const refuse = (): never => {
  throw new TypeError('Only tools, prompts and resources can ask; completers and methods of your own cannot');
};
const nothing = (): void => undefined;
const cannotAsk: Run = {
  ask: refuse,
  step: refuse,
  reason: undefined,
  end: nothing,
  close: nothing,
  withdraw: nothing,
};

// A ToolError is meant to be read, wherever it is thrown.
async function withToolErrors<T>(value: T | Promise<T>): Promise<T> {
  try {
    return await value;
  } catch (error) {
    throw ToolError.is(error) ? new McpError('internal_error', error.message, { cause: error }) : error;
  }
}

function withoutMeta({ _meta, ...params }: Record<string, unknown>): Record<string, unknown> {
  return params;
}
