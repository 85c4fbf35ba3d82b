// Calls tools: for clients, for other handlers, and for tasks.

import { isObject } from '../../jsonrpc/message.js';
import { type Call, type Middleware, type Outcome, withoutParamHeaders } from '../../protocol/call.js';
import { copyCall } from '../../protocol/direct.js';
import { McpError } from '../../protocol/errors.js';
import type { Around } from '../../protocol/telemetry/hosting.js';
import { isInputRequired } from '../asking/input-required.js';
import type { ToolRunResult } from '../catalog/run-tool.js';
import { type CompiledTool, readArguments, type ToolInput, type ToolVersions } from '../catalog/tools.js';
import type { CallContext, ContextParts, NestedCall, PreparedInputs } from '../context/call-context.js';
import type { HandlerHome } from '../context/handler-run.js';
import type { ValueReferences } from '../references/value-references.js';
import { ToolError } from '../results/tool-error.js';
import type { ToolResult } from '../results/tool-result.js';
import type { RunOnce } from '../state/idempotency.js';
import type { MethodParts } from './run-handler.js';
import type { StoredCall, TaskHost, TaskWork } from './task-host.js';
import { type HostUse, ToolMiddleware } from './tool-middleware.js';

/** The functions that call tools. */
export interface ToolCalls {
  /** Answers `tools/call`. */
  readonly callTool: (call: Call) => Outcome | Promise<Outcome>;
  /** Calls a tool from inside another handler. */
  readonly callNested: ContextParts['callTool'];
  /** Finds the tool of a task that an earlier process left, to run it again. */
  readonly restartTask: (task: StoredCall) => Promise<TaskWork>;
  readonly useOf: (tool: CompiledTool) => readonly Middleware[];
}

/** The call that a tool runs for. */
interface Origin {
  readonly call: Call;
  readonly runId: string | undefined;
}

/** The parts of the server that tool calls need. */
export interface ToolCallParts extends MethodParts {
  readonly tasks: () => TaskHost | undefined;
  /** Runs the calls that have an idempotency key. */
  readonly runOnce: RunOnce;
  /** Wraps the tools of tasks, and tools that other tools call. */
  readonly around: Around | undefined;
  /** Gives the middleware of tools the parts of the server that some of it needs. */
  readonly hostUse: HostUse;
  /** The values that stand in the store, for handles. Loaded with the first call that needs one. */
  readonly references: () => Promise<ValueReferences>;
  /** Whether clients may be told in the words of drafts. */
  readonly servesDrafts: boolean;
}

/** Makes the functions that call tools. */
export function toolCalls(parts: ToolCallParts): ToolCalls {
  const { registry, entrance, runner, tasks, runOnce, around = plainly, servesDrafts, references } = parts;
  const { complete } = registry;
  const middleware = new ToolMiddleware(parts.hostUse, registry.tools.versions());
  const { runHandler, runPrepared, runNested } = runner;

  // A call with handles enters twice: a function in between would be one more frame in every stack trace.
  function callTool(call: Call, isOpened = false): Outcome | Promise<Outcome> {
    const { name, arguments: args } = call.params;
    if (typeof name !== 'string') throw new McpError('invalid_params', 'params.name must be a string');
    const tool = registry.tools.get(name);
    if (registry.hasHandles && tool !== undefined && !isOpened && hasHandle(args)) return open(tool, call);
    if (tool === undefined || !entrance.isOpen(call, tool)) return callGuarded(name, call);
    const input = readArguments(tool, call);
    if (input instanceof Promise) return input.then((result) => callWith(tool, result, call));
    if (!input.ok || tool.idempotencyMs !== undefined || tool.use !== undefined || mayBeTask(tool, call))
      return callWith(tool, input, call);
    return runHandler(call, handlerFor(call, tool), input.value);
  }

  /** Makes a call with the values that its handles stand for. */
  async function open(tool: CompiledTool, call: Call): Promise<Outcome> {
    const opened = await (await references()).open(tool, call);
    return 'failure' in opened ? complete(opened.failure) : callTool(opened.call, true);
  }

  // Each round of a call with questions, and each repetition of a call with an idempotency key, enters here anew.
  async function callGuarded(name: string, call: Call): Promise<Outcome> {
    const { versions } = registry.tools.get(name) ?? {};
    const pinned = versions && (await pinnedByArguments(versions, call));
    if (pinned === undefined) return enter(name, call);
    const { tellOfVersion } = await import('./older-version.js');
    const { version } = pinned;
    return tellOfVersion(call, { registry, version, servesDrafts }, () => enter(name, pinned.call));
  }

  async function enter(name: string, call: Call): Promise<Outcome> {
    const tool = await entrance.tool(call, name);
    const input = await readArguments(tool, call);
    if (input.ok) await entrance.toolInput(call, tool, input.value);
    return callWith(tool, input, call);
  }

  function callWith(tool: CompiledTool, input: ToolInput, call: Call): Outcome | Promise<Outcome> {
    if (!input.ok) return complete(input.failure);
    if (tool.use === undefined) return callOnce(tool, input.value, call);
    return middleware.run(tool, call, async (next) => {
      const checked = await checkAgain(tool, { call, input }, next);
      return checked.ok ? callOnce(tool, checked.value, next) : complete(checked.failure);
    });
  }

  /** The input of a call that middleware has passed on. If the call has changed, it is a different one, and is checked anew. */
  async function checkAgain(
    tool: CompiledTool,
    before: { readonly call: Call; readonly input: ToolInput },
    next: Call,
  ): Promise<ToolInput> {
    const { params, auth, isLocal } = before.call;
    const isSame =
      next.params['arguments'] === params['arguments'] && next.auth === auth && next.isLocal === isLocal;
    if (isSame) return before.input;
    await entrance.tool(next, tool.name);
    const input = await readArguments(tool, next);
    if (input.ok) await entrance.toolInput(next, tool, input.value);
    return input;
  }

  function callOnce(tool: CompiledTool, input: unknown, call: Call): Outcome | Promise<Outcome> {
    const windowMs = tool.idempotencyMs;
    if (windowMs === undefined) return runOrStartTask(tool, input, { call, runId: undefined });
    return runOnce.run({
      call,
      tool: tool.name,
      windowMs,
      isHarmless: tool.isHarmless,
      run: async (keyedCall, runId) => runOrStartTask(tool, input, { call: keyedCall, runId }),
    });
  }

  /** Runs the tool, or starts a task if the tool can run as one. */
  function runOrStartTask(tool: CompiledTool, input: unknown, origin: Origin): Outcome | Promise<Outcome> {
    const { call, runId } = origin;
    const host = mayBeTask(tool, call) ? tasks() : undefined;
    if (host !== undefined) return host.serve(call, workOf(tool, input, origin));
    const handler = handlerFor(call, tool);
    return runId === undefined
      ? runHandler(call, handler, input)
      : runPrepared(call, handler, input, { runId });
  }

  /** The handler of a tool for a client, which may get a handle in place of the value. */
  function handlerFor({ inProgram }: Pick<Call, 'inProgram'>, tool: CompiledTool): CompiledTool['handler'] {
    const { handler, name } = tool;
    if (!tool.returnsHandle || inProgram) return handler;
    return {
      ...handler,
      run: async (...args) => (await references()).keep(name, await handler.run(...args), args[2]),
    };
  }

  /** `origin`: undefined for a task that is taken up again, of which `caller` is known. */
  function workOf(
    tool: CompiledTool,
    input: unknown,
    origin?: Origin,
    caller: Pick<Call, 'inProgram'> = (origin as Origin).call,
  ): TaskWork {
    const handler = handlerFor(caller, tool);
    let inputs: PreparedInputs | undefined;
    return {
      name: tool.name,
      version: tool.version,
      args: origin?.call.params['arguments'] ?? {},
      options: tool.task,
      runId: origin?.runId,
      prepare:
        origin &&
        (async () => {
          inputs = await runner.prepare(origin.call, handler.home);
          runner.warnOfUnknownCaller(origin.call);
        }),
      async run(call, replay, onRunning) {
        const work = (ctx: CallContext<never, never>): Promise<ToolRunResult> => {
          onRunning();
          return around({ kind: 'task', name: tool.name, call }, async () => handler.run(input, ctx, call));
        };
        const result = await runNested(call, replay, work, { inputs, home: handler.home }).catch((error) => {
          if (!replay.isSuspended) replay.reportEnd('threw', error);
          throw error;
        });
        if (isInputRequired(result))
          throw new TypeError(
            `The tool "${tool.name}" returned inputRequired, which tasks do not support. Ask with ctx.elicit or ctx.ask instead.`,
          );
        if (!result.isError) replay.checkResult();
        replay.reportEnd(result.isError ? 'threw' : 'returned', result);
        return handler.finish(result);
      },
      journalOf: async (state) => runner.journalOf((origin as Origin).call, handler, state),
      inline: async (background) => {
        if (origin === undefined)
          throw new TypeError('A task that was resumed has no call that it could answer');
        const { call, runId } = origin;
        return background === undefined && runId === undefined
          ? runHandler(call, handler, input)
          : runPrepared(call, handler, input, { runId, background });
      },
    };
  }

  async function restartTask(task: StoredCall): Promise<TaskWork> {
    const { tool: name, args } = task;
    const caller = await pinnedToItsVersion(registry.tools.get(name), task);
    const tool = await entrance.tool(caller, name);
    const checked = await tool.input.validate(args);
    if (!checked.ok)
      throw new McpError(
        'invalid_params',
        `The arguments of this task are no longer valid for the tool "${name}"`,
      );
    await entrance.toolInput(caller, tool, checked.value).catch((error: unknown) => {
      // The policy denies these arguments. Each run passes it again, so that the task ends with this result.
      if (!ToolError.is(error)) throw error;
    });
    return workOf(tool, checked.value, undefined, task);
  }

  async function callNested(
    { call, run: outer, inputs }: NestedCall,
    name: string,
    args: object,
  ): Promise<ToolResult> {
    const nested = copyCall(call, {
      method: 'tools/call',
      params: { name, arguments: args },
      isNested: true,
      // An older version may call the tool itself, and gets the current one.
      pinned: undefined,
      http: withoutParamHeaders(call.http),
    });
    const tool = await entrance.tool(nested, name);
    const input = await readArguments(tool, nested);
    if (!input.ok) return input.failure;
    await entrance.toolInput(nested, tool, input.value);
    if (tool.use === undefined) return work(input.value, nested);
    return middleware.runNested(tool, nested, async (next) => {
      const checked = await checkAgain(tool, { call: nested, input }, next);
      return checked.ok ? work(checked.value, next) : checked.failure;
    });

    // A mounted tool has a state and a user of its own.
    async function inputsFor(home: HandlerHome | undefined): Promise<PreparedInputs> {
      return home === undefined ? inputs : { ...(await home.prepare(call)), logs: inputs.logs };
    }

    async function work(value: unknown, current: Call): Promise<ToolResult> {
      const { home } = tool.handler;
      const run = (ctx: CallContext<never, never>): Promise<ToolRunResult> =>
        around({ kind: 'tool', name, call: current }, async () => tool.handler.run(value, ctx, current));
      const result = await runNested(current, outer, run, { inputs: await inputsFor(home), home });
      if (isInputRequired(result))
        throw new TypeError(
          `The tool "${name}" returned inputRequired, which ctx.call does not support. Ask with ctx.elicit or ctx.ask in that tool.`,
        );
      return result;
    }
  }

  return { callTool, callNested, restartTask, useOf: (tool) => middleware.useOf(tool) };
}

/** The call with the version of the tool that its arguments are meant for; undefined if the caller gets that one in any case. */
async function pinnedByArguments(
  { all, choose, isByCaller, meant }: ToolVersions,
  call: Call,
): Promise<{ readonly call: Call; readonly version: string } | undefined> {
  if (isByCaller || call.pinned?.of === choose) return undefined;
  const chosen = await choose(call);
  const at = await meant(all, call.params['arguments'] ?? {}, chosen);
  const version = all[at]?.version;
  return at === chosen || version === undefined
    ? undefined
    : { call: copyCall(call, { pinned: { of: choose, at } }), version };
}

/** The caller of a task, who gets the version of the tool that began it. Rejects with an `McpError` if this process does not have it. */
async function pinnedToItsVersion(tool: CompiledTool | undefined, task: StoredCall): Promise<StoredCall> {
  const { version, args } = task;
  const versions = tool?.versions;
  if (tool === undefined || (versions === undefined && version === undefined)) return task;
  if (versions === undefined) throw versionIsGone(task, []);
  const { all, choose, isByCaller, meant } = versions;
  const at =
    version === undefined
      ? await choose(task).then((chosen) => (isByCaller ? chosen : meant(all, args, chosen)))
      : all.findIndex((one) => one.version === version);
  if (version !== undefined && at === -1) throw versionIsGone(task, all);
  return { ...task, pinned: { of: choose, at } };
}

function versionIsGone({ tool, version }: StoredCall, all: readonly CompiledTool[]): McpError {
  const others = all.length === 0 ? 'one without versions' : all.map((one) => one.version).join(', ');
  return new McpError(
    'invalid_params',
    `The version ${version} of the tool "${tool}", which began this task, is not served any more. The task was not continued by another version (${others}), which has no migration from it. Start the task again.`,
  );
}

/** Whether an argument looks like a handle. */
function hasHandle(args: unknown): boolean {
  return (
    isObject(args) &&
    Object.values(args).some((value) => typeof value === 'string' && value.startsWith('handle:'))
  );
}

const plainly: Around = (_, run) => run();

function mayBeTask(tool: CompiledTool, call: Call): boolean {
  return tool.task !== undefined || call.standIn !== undefined;
}
