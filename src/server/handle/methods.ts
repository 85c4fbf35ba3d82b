// The methods that a server answers.

import type { Call, Outcome } from '../../protocol/call.js';
import { McpError } from '../../protocol/errors.js';
import { faultData } from '../../protocol/not-found.js';
import { INVALID_ARGUMENTS } from '../../protocol/tables/failure-texts.js';
import type { Around } from '../../protocol/telemetry/hosting.js';
import { explanationLater } from '../../schema/explain-later.js';
import type { SharedState } from '../../state/cluster.js';
import type { ServerResults } from '../../state/hosted-middleware.js';
import type { Topic } from '../../state/topic.js';
import type { ServerAccess } from '../access/access.js';
import type { Gate } from '../access/gate.js';
import { type InputRequired, isInputRequired } from '../asking/input-required.js';
import { Replay } from '../asking/replay.js';
import type { Run } from '../asking/run.js';
import { type CompiledMethod, DefinitionError } from '../catalog/compile.js';
import { type CompiledPrompt, type GetPromptResult, toPromptResult } from '../catalog/prompts.js';
import type { Registration, Registry, ResourceMatch } from '../catalog/registry.js';
import type { CallContext } from '../context/call-context.js';
import type { Context } from '../context/context.js';
import type { HandlerHome, HandlerRun, Mounted } from '../context/handler-run.js';
import type { ContextParts } from '../context/run-inputs.js';
import { toMethodResult } from '../results/results.js';
import { ToolError } from '../results/tool-error.js';
import type { TaskAnnouncement } from '../state/changes.js';
import type { RunOnce } from '../state/idempotency.js';
import type { Logger } from '../state/log.js';
import { type ToolCalls, toolCalls } from './call-tool.js';
import { completeArgument } from './complete.js';
import { Entrance } from './entrance.js';
import { listen } from './listen.js';
import { type ReadResourceResult, readResource } from './read-resource.js';
import { Reading } from './reading.js';
import { createHandlerRunner, type HandlerRunnerParts } from './run-handler.js';
import type { TaskHost, TaskPluginParts } from './task-host.js';
import type { HostUse } from './tool-middleware.js';
import { Watching } from './watching.js';

/** The parts of the server that its methods need. */
export interface ServerParts extends Omit<HandlerRunnerParts, 'complete'> {
  readonly registry: Registry;
  readonly gate: Gate;
  readonly access: ServerAccess;
  readonly announce: ContextParts['announce'];
  readonly stored: ContextParts['stored'];
  readonly deprecated: ContextParts['deprecated'];
  readonly log: Logger;
  readonly methods: ReadonlyMap<string, CompiledMethod>;
  readonly runOnce: RunOnce;
  readonly around: Around | undefined;
  readonly hostUse: HostUse;
  readonly taskChanges: Topic<TaskAnnouncement>;
  readonly shared: SharedState;
  /** Makes the host that runs tools as tasks. */
  readonly tasks: ((parts: Pick<TaskPluginParts, 'workOf' | 'rules'>) => TaskHost) | undefined;
}

type Handler = (call: Call) => Outcome | Promise<Outcome>;

/** The methods of a server by name, the host of its tasks, and the watches of its resources. */
export interface MethodTable {
  readonly methods: ReadonlyMap<string, Handler>;
  readonly watching: Watching;
  readonly tasks: TaskHost | undefined;
  /** Runs the handlers of this server. */
  readonly home: HandlerHome;
  /** The middleware of a tool. */
  readonly useOf: ToolCalls['useOf'];
  /** Adds a custom method. Throws if there is one of the same name. */
  readonly addMethod: (name: string, method: CompiledMethod) => Registration;
  /** Whether there is the method that a call names, and the tool or prompt. */
  readonly defines: (call: Call) => boolean;
  readonly admission: ServerResults['admission'];
}

/** Makes the table of all methods that the server answers. */
export function methodTable(parts: ServerParts): MethodTable {
  const { registry, log } = parts;
  const { complete } = registry;
  const runner = createHandlerRunner({ ...parts, complete }, () => contextParts);
  const { runHandler, runNested } = runner;
  const entrance = new Entrance(parts);
  const watching = new Watching({ ...parts, entrance });
  const reading = new Reading({
    registry,
    log,
    home: runner.home,
    read: (call, match) =>
      runNested(call, cannotAsk, (ctx) => readResource(match, ctx), { home: match.source.mounted?.home }),
  });
  const { runOnce, around, hostUse } = parts;
  const tools = toolCalls({ registry, entrance, runner, tasks: () => tasks, runOnce, around, hostUse });
  const tasks = parts.tasks?.({
    workOf: tools.restartTask,
    rules: entrance.tasks,
  });

  const contextParts: ContextParts = {
    newReplay: () => new Replay(undefined, { maxBytes: parts.seal.maxBytes }),
    announce: parts.announce,
    log,
    stored: parts.stored,
    deprecated: parts.deprecated,
    async read({ call, run, inputs }, uri) {
      const match = await entrance.resource(call, uri);
      const work = (ctx: CallContext<never, never>) => withToolErrors(readResource(match, ctx));
      const home = match.source.mounted?.home;
      const result = await runNested(call, run, work, home === undefined ? { inputs } : { home });
      if (isInputRequired(result))
        throw new TypeError(
          `The resource "${uri}" returned inputRequired, which ctx.read does not support. Ask with ctx.elicit or ctx.ask in its reader.`,
        );
      return result.contents;
    },
    callTool: tools.callNested,
    request: async (call) => (methods.get(call.method) as Handler)(call),
  };

  async function getPrompt(call: Call): Promise<Outcome> {
    const { name } = call.params;
    if (typeof name !== 'string') throw new McpError('invalid_params', 'params.name must be a string');
    const found = entrance.prompt(call, name);
    const prompt = found instanceof Promise ? await found : found;
    return runMounted(call, prompt.mounted, promptRun, prompt);
  }

  const promptRun: HandlerRun<CompiledPrompt, GetPromptResult | InputRequired> = {
    target: ({ params: { name, arguments: args = {} } }) => ({ name: name as string, args }),
    async run(prompt, ctx, call) {
      const { arguments: args = {} } = call.params;
      const checked = await prompt.args.validate(args);
      if (!checked.ok) {
        const { text, field } = await explanationLater(checked.issues, prompt.args, args);
        throw new McpError('invalid_params', `${INVALID_ARGUMENTS}prompt ${prompt.name}. ${text}`, {
          data: faultData('prompt', prompt.name, field),
        });
      }
      await entrance.promptInput(call, prompt, checked.value);
      const value = await withToolErrors(prompt.run(checked.value, ctx));
      return isInputRequired(value) ? value : toPromptResult(value, prompt.listed.description);
    },
    finish: complete,
  };

  async function read(call: Call): Promise<Outcome> {
    const { uri } = call.params;
    if (typeof uri !== 'string') throw new McpError('invalid_params', 'params.uri must be a string');
    const found = entrance.resource(call, uri);
    const match = found instanceof Promise ? await found : found;
    return runMounted(call, match.source.mounted, resourceRun, match);
  }

  const resourceRun: HandlerRun<ResourceMatch, ReadResourceResult | InputRequired> = {
    target: ({ params: { uri } }) => ({ name: uri as string, args: undefined }),
    run: (match, ctx) => withToolErrors(readResource(match, ctx)),
    finish: complete,
  };

  /** Runs a handler that may belong to a mounted server: with its context, inside its middleware. */
  function runMounted<Input, T>(
    call: Call,
    mounted: Mounted | undefined,
    handler: HandlerRun<Input, T>,
    input: Input,
  ): Outcome | Promise<Outcome> {
    if (mounted === undefined) return runHandler(call, handler, input);
    const { home, through } = mounted;
    const run = async (next: Call): Promise<Outcome> => runHandler(next, { ...handler, home }, input);
    return through === undefined ? run(call) : through(call, run);
  }

  async function callCustom(method: CompiledMethod, call: Call): Promise<Outcome> {
    const { params: schema, run } = method;
    await entrance.method(call, method);
    const checked = schema && (await schema.validate(withoutMeta(call.params)));
    if (checked?.ok === false && schema) {
      const { text, field } = await explanationLater(checked.issues, schema, call.params);
      throw new McpError('invalid_params', `Invalid params. ${text}`, {
        data: faultData('method', call.method, field),
      });
    }
    const params = checked?.ok ? checked.value : call.params;
    await entrance.method(call, method, params);
    const value = await withContext(call, (ctx) => withToolErrors(run(params, ctx)), method.mounted?.home);
    return complete(toMethodResult(value));
  }

  function list(call: Call): Outcome | Promise<Outcome> {
    const resources = catalogOf('resources');
    if (!registry.listsPerCaller()) return resources.page(call, call.params['cursor']);
    return withToolErrors(listPerCaller(call));
  }

  // Loaded only if a template has `list`.
  async function listPerCaller(call: Call): Promise<Outcome> {
    const { listResources } = await import('../catalog/list-resources.js');
    return listResources(registry, call, { gate: parts.gate, withContext, log });
  }

  function listTemplates(call: Call): Outcome | Promise<Outcome> {
    catalogOf('resources');
    return registry.templates.page(call, call.params['cursor']);
  }

  function catalogOf<K extends 'listedTools' | 'resources' | 'prompts'>(list: K): Registry[K] {
    const kind = list === 'listedTools' ? 'tools' : (list as 'resources' | 'prompts');
    if (!registry.offers(kind)) throw new McpError('method_not_found', `This server has no ${kind}`);
    return registry[list];
  }

  function withContext<T>(call: Call, work: (ctx: Context) => Promise<T>, home?: HandlerHome): Promise<T> {
    return runNested(call, cannotAsk, work, { home });
  }

  const completionSources = {
    completers: entrance.completers.bind(entrance),
    complete,
    withContext,
  };
  const publishes = (kind: Parameters<Registry['announces']>[0]): boolean => registry.announces(kind);

  const methods = new Map<string, Handler>([
    ['server/discover', () => registry.discover()],
    ['tools/list', (call) => catalogOf('listedTools').page(call, call.params['cursor'])],
    ['resources/list', list],
    ['prompts/list', (call) => catalogOf('prompts').page(call, call.params['cursor'])],
    ['resources/templates/list', listTemplates],
    ['tools/call', tools.callTool],
    ['resources/read', read],
    ['prompts/get', getPrompt],
    ['completion/complete', (call) => withToolErrors(completeArgument(call, completionSources))],
    [
      'subscriptions/listen',
      listen({
        changes: registry.changes,
        taskChanges: parts.taskChanges,
        complete,
        publishes,
        entrance,
        tasks,
        watching,
        reading,
        log,
      }),
    ],
    ...[...parts.methods].map(([name, method]): [string, Handler] => [
      name,
      (call) => callCustom(method, call),
    ]),
    ...(tasks === undefined
      ? []
      : [...tasks.methods].map(([name, serve]): [string, Handler] => [name, taskMethod(serve)])),
  ]);
  let admits: ServerResults['admission'] | undefined;
  return { methods, tasks, watching, defines, admission, addMethod, home: runner.home, useOf: tools.useOf };

  function admission(call: Call): ReturnType<ServerResults['admission']> {
    return admits === undefined ? loadAdmission(call) : admits(call);
  }

  async function loadAdmission(call: Call): Promise<string | undefined> {
    const { admissions } = await import('./admission.js');
    admits = admissions({ registry, entrance, runner, hasUser: parts.user !== undefined });
    return admits(call);
  }

  function addMethod(name: string, method: CompiledMethod): Registration {
    if (methods.has(name)) throw new DefinitionError([`the method "${name}" is defined twice`]);
    methods.set(name, (call) => callCustom(method, call));
    return { remove: () => void methods.delete(name) };
  }

  function defines({ method, params }: Call): boolean {
    const name = String(params['name']);
    if (method === 'tools/call') return registry.tools.get(name) !== undefined;
    return method === 'prompts/get' ? registry.prompts.get(name) !== undefined : methods.has(method);
  }

  function taskMethod(serve: Handler): Handler {
    return async function serveTask(call) {
      if (registry.offersTasks()) return serve(call);
      throw new McpError('method_not_found', 'This server has no tools that run as tasks');
    };
  }
}

// Spec, Multi Round-Trip Requests: only tools, prompts and resources may ask questions.
const refuse = (): never => {
  throw new TypeError(
    'Only tools, prompts and resources can ask questions and run steps; completers, the "list" of a template and custom methods cannot',
  );
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

// The message of a ToolError is for the client, wherever the error is thrown.
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
