// Calls tools: for clients, for other handlers, and for tasks.

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

/** The functions that call tools. */
export interface ToolCalls {
  /** Answers `tools/call`. */
  readonly callTool: (call: Call) => Outcome | Promise<Outcome>;
  /** Calls a tool from inside another handler. */
  readonly callNested: ContextParts['callTool'];
  /** Finds the tool of a task that an earlier process left, to run it again. */
  readonly restartTask: (task: { readonly tool: string; readonly args: unknown }) => Promise<TaskWork>;
}

/** The call that a tool runs for. */
interface Origin {
  readonly call: Call;
  readonly runId: string | undefined;
}

/** The parts of the server that tool calls need. */
export interface ToolCallParts {
  readonly registry: Registry;
  readonly runner: HandlerRunner;
  readonly tasks: () => TaskHost | undefined;
  /** Runs the calls that have an idempotency key. */
  readonly runOnce: RunOnce;
}

/** Makes the functions that call tools. */
export function toolCalls({ registry, runner, tasks, runOnce }: ToolCallParts): ToolCalls {
  const { complete } = registry;
  const { runHandler, runPrepared, runNested } = runner;

  function callTool(call: Call): Outcome | Promise<Outcome> {
    const tool = findTool(call.params['name']);
    const input = readArguments(tool, call);
    if (input instanceof Promise) return input.then((result) => callWith(tool, result, call));
    if (!input.ok || tool.idempotencyMs !== undefined || tool.task !== undefined)
      return callWith(tool, input, call);
    return runHandler(call, tool.handler, input.value);
  }

  function callWith(tool: CompiledTool, input: ToolInput, call: Call): Outcome | Promise<Outcome> {
    if (!input.ok) return complete(input.failure);
    const windowMs = tool.idempotencyMs;
    if (windowMs === undefined) return runOrStartTask(tool, input.value, { call, runId: undefined });
    return runOnce.run({
      call,
      tool: tool.name,
      windowMs,
      isHarmless: tool.isHarmless,
      run: async (keyedCall, runId) => runOrStartTask(tool, input.value, { call: keyedCall, runId }),
    });
  }

  /** Runs the tool, or starts a task if the tool can run as one. */
  function runOrStartTask(tool: CompiledTool, input: unknown, origin: Origin): Outcome | Promise<Outcome> {
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
          throw new TypeError(
            `The tool "${tool.name}" returned inputRequired, which tasks do not support. Ask with ctx.elicit or ctx.ask instead.`,
          );
        if (!result.isError) replay.checkResult();
        return handler.finish(result);
      },
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

  async function restartTask({
    tool: name,
    args,
  }: {
    readonly tool: string;
    readonly args: unknown;
  }): Promise<TaskWork> {
    const tool = findTool(name);
    const checked = await tool.input.validate(args);
    if (!checked.ok)
      throw new McpError(
        'invalid_params',
        `The arguments of this task are no longer valid for the tool "${name}"`,
      );
    return workOf(tool, checked.value);
  }

  async function callNested(
    { call, run, inputs }: NestedCall,
    name: string,
    args: object,
  ): Promise<ToolResult> {
    const tool = findTool(name);
    const nested = copyCall(call, {
      params: { name, arguments: args },
      http: withoutParamHeaders(call.http),
    });
    const input = await readArguments(tool, nested);
    if (!input.ok) return input.failure;
    const { value } = input;
    const result = await runNested(nested, run, async (ctx) => tool.handler.run(value, ctx, nested), inputs);
    if (isInputRequired(result))
      throw new TypeError(
        `The tool "${name}" returned inputRequired, which ctx.call does not support. Ask with ctx.elicit or ctx.ask in that tool.`,
      );
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

// The parameter headers belong to the body of the outer call, not to the nested one.
function withoutParamHeaders(http: HttpFacts | undefined): HttpFacts | undefined {
  return http?.mirrored === undefined ? http : { header: http.header, remoteAddress: http.remoteAddress };
}
