import type { Call, HttpFacts, Outcome } from '../../protocol/call.js';
import { copyCall } from '../../protocol/direct.js';
import { McpError } from '../../protocol/errors.js';
import { isInputRequired } from '../asking/input-required.js';
import { type Registry, unknownName } from '../catalog/registry.js';
import { type CompiledTool, readArguments, type ToolInput } from '../catalog/tools.js';
import type { ContextParts, NestedCall, PreparedInputs } from '../context/run-inputs.js';
import type { ToolResult } from '../results/tool-result.js';
import type { RunOnce } from '../state/idempotency.js';
import type { HandlerRunner } from './run-handler.js';
import type { TaskHost, TaskWork } from './task-host.js';

/** Calls to tools: by clients, by other handlers, and by tasks. */
export interface ToolCalls {
  /** Answers `tools/call`. */
  readonly callTool: (call: Call) => Outcome | Promise<Outcome>;
  /** Calls a tool from inside another handler. */
  readonly callNested: ContextParts['callTool'];
  /** Finds the tool of a task that an earlier process left, to run it again. */
  readonly restartTask: (task: { readonly tool: string; readonly args: unknown }) => Promise<TaskWork>;
}

/** The call that a task is made for. */
interface Origin {
  readonly call: Call;
  readonly runId: string | undefined;
}

export interface ToolCallParts {
  readonly registry: Registry;
  readonly runner: HandlerRunner;
  readonly tasks: () => TaskHost | undefined;
  /** Runs the calls that clients may send again. */
  readonly runOnce: RunOnce;
}

export function toolCalls({ registry, runner, tasks, runOnce }: ToolCallParts): ToolCalls {
  const { complete } = registry;
  const { runHandler, runPrepared, runNested } = runner;

  function callTool(call: Call): Outcome | Promise<Outcome> {
    const tool = findTool(call.params['name']);
    const input = readArguments(tool, call);
    if (input instanceof Promise) return input.then((read) => callWith(tool, read, call));
    if (!input.ok || tool.idempotencyMs !== undefined || tool.task !== undefined)
      return callWith(tool, input, call);
    return runHandler(call, tool.handler, input.value);
  }

  function callWith(tool: CompiledTool, input: ToolInput, call: Call): Outcome | Promise<Outcome> {
    if (!input.ok) return complete(input.failure);
    const windowMs = tool.idempotencyMs;
    if (windowMs === undefined) return runOrBegin(tool, input.value, { call, runId: undefined });
    return runOnce.run({
      call,
      tool: tool.name,
      windowMs,
      harmless: tool.harmless,
      run: async (keyed, runId) => runOrBegin(tool, input.value, { call: keyed, runId }),
    });
  }

  /** Runs the tool, or begins a task where the tool can be one. */
  function runOrBegin(tool: CompiledTool, input: unknown, origin: Origin): Outcome | Promise<Outcome> {
    const { call, runId } = origin;
    const host = tool.task && tasks();
    if (host !== undefined) return host.serve(call, workOf(tool, input, origin));
    return runId === undefined
      ? runHandler(call, tool.handler, input)
      : runPrepared(call, tool.handler, input, { runId });
  }

  function workOf(tool: CompiledTool, input: unknown, origin?: Origin): TaskWork {
    const { handler } = tool;
    let inputs: PreparedInputs | undefined;
    return {
      name: tool.name,
      args: origin?.call.params['arguments'] ?? {},
      options: tool.task ?? { support: 'optional' },
      runId: origin?.runId,
      prepare:
        origin &&
        (async () => {
          inputs = await runner.prepare(origin.call);
          runner.warnOfUnknownCaller(origin.call);
        }),
      async run(call, replay, onRunning) {
        const result = await runNested(
          call,
          replay,
          async (ctx) => {
            onRunning();
            return handler.run(input, ctx, call);
          },
          inputs,
        );
        if (isInputRequired(result))
          throw new TypeError(`${tool.name} returns inputRequired and cannot run as a task`);
        if (!result.isError) replay.checkResult();
        return handler.finish(result);
      },
      inline: async (background) => {
        if (origin === undefined) throw new TypeError('A task that is resumed has no call to answer');
        const { call, runId } = origin;
        return background === undefined && runId === undefined
          ? runHandler(call, handler, input)
          : runPrepared(call, handler, input, { runId, background });
      },
    };
  }

  async function restartTask({
    tool: name,
    args,
  }: {
    readonly tool: string;
    readonly args: unknown;
  }): Promise<TaskWork> {
    const tool = findTool(name);
    const checked = await tool.input.validate(args);
    if (!checked.ok) throw new McpError('invalid_params', `The arguments of this task no longer fit ${name}`);
    return workOf(tool, checked.value);
  }

  async function callNested(
    { call, run, inputs }: NestedCall,
    name: string,
    args: object,
  ): Promise<ToolResult> {
    const tool = findTool(name);
    const nested = copyCall(call, { params: { name, arguments: args }, http: withoutMirror(call.http) });
    const input = await readArguments(tool, nested);
    if (!input.ok) return input.failure;
    const { value } = input;
    const result = await runNested(nested, run, async (ctx) => tool.handler.run(value, ctx, nested), inputs);
    if (isInputRequired(result))
      throw new TypeError(`${name} returns inputRequired and cannot be called from a handler`);
    return result;
  }

  function findTool(name: unknown): CompiledTool {
    if (typeof name !== 'string') throw new McpError('invalid_params', 'params.name must be a string');
    const tool = registry.tools.get(name);
    if (tool === undefined) throw unknownName('tool', name, registry.tools.names());
    return tool;
  }

  return { callTool, callNested, restartTask };
}

// The headers mirror the body of the outer call, not of this one.
function withoutMirror(http: HttpFacts | undefined): HttpFacts | undefined {
  return http?.mirrored === undefined ? http : { header: http.header, remoteAddress: http.remoteAddress };
}
