import type { Call, HttpFacts, Outcome } from '../../protocol/call.js';
import { copyCall } from '../../protocol/direct.js';
import { PRINTED } from '../../protocol/encoding/printed-value.js';
import { McpError } from '../../protocol/errors.js';
import { type InputRequired, isInputRequired } from '../asking/input-required.js';
import { type Registry, unknownName } from '../catalog/registry.js';
import {
  type CompiledTool,
  readArguments,
  runTool,
  type ToolErrors,
  type ToolInput,
} from '../catalog/tools.js';
import type { CallContext, Services } from '../context/call-context.js';
import { withTimeLimit } from '../context/time-limit.js';
import { BareValue, toolFailure } from '../results/results.js';
import type { ToolResult } from '../results/tool-result.js';
import type { RunOnce } from '../state/idempotency.js';
import type { Performance, Prepared, Stage } from './run-handler.js';
import type { TaskHost, TaskWork } from './task-host.js';

export interface ToolServing {
  /** Answers `tools/call`. */
  readonly serve: (call: Call) => Outcome | Promise<Outcome>;
  /** Calls a tool from inside another handler. */
  readonly within: Services['callTool'];
  readonly again: (task: { readonly tool: string; readonly args: unknown }) => Promise<TaskWork>;
}

/** The call that a task is made for. */
interface Origin {
  readonly call: Call;
  readonly runId: string | undefined;
}

export interface ToolParts extends ToolErrors {
  readonly registry: Registry;
  readonly stage: Stage;
  readonly tasks: () => TaskHost | undefined;
  /** Runs the calls that clients may send again. */
  readonly runOnce: RunOnce;
}

export function serveTool(parts: ToolParts): ToolServing {
  const { registry, stage, tasks, runOnce } = parts;
  const { complete } = registry;

  function callTool(call: Call): Outcome | Promise<Outcome> {
    const tool = findTool(call.params['name']);
    const reading = readArguments(tool, call);
    return reading instanceof Promise
      ? reading.then((input) => proceed(tool, input, call))
      : proceed(tool, reading, call);
  }

  function proceed(tool: CompiledTool, input: ToolInput, call: Call): Outcome | Promise<Outcome> {
    if (!input.ok) return complete(input.failure);
    const windowMs = tool.idempotencyMs;
    if (windowMs === undefined) return answer(tool, input.value, call);
    return runOnce.run({
      call,
      tool: tool.name,
      windowMs,
      harmless: tool.harmless,
      run: async (keyed, runId) => answer(tool, input.value, keyed, runId),
    });
  }

  function answer(
    tool: CompiledTool,
    input: unknown,
    call: Call,
    runId?: string,
  ): Outcome | Promise<Outcome> {
    const host = tool.task && tasks();
    if (host === undefined) return stage.perform(call, performance(tool, input, call, runId));
    return host.serve(call, workOf(tool, input, { call, runId }));
  }

  function performance(
    tool: CompiledTool,
    input: unknown,
    call: Call,
    runId: string | undefined,
  ): Performance<ToolResult | InputRequired> {
    return {
      name: tool.name,
      args: call.params['arguments'],
      runId,
      run: (ctx) => run(tool, input, call, ctx),
      finish: finishFor(tool),
    };
  }

  // Without a schema, clients do not expect structured content, and some break on what is not an object.
  function finishFor(tool: CompiledTool): typeof finish {
    return tool.output === undefined ? finishUnannounced : finish;
  }

  const { _meta: printed } = complete({}, PRINTED);
  const { _meta } = complete({});
  function finishUnannounced(result: ToolResult | InputRequired): Outcome {
    if (result instanceof BareValue)
      return { resultType: 'complete', content: result.content, _meta: printed };
    return isContentAlone(result)
      ? { resultType: 'complete', content: result.content, _meta }
      : finish(result);
  }

  function finish(result: ToolResult | InputRequired): Outcome {
    return complete(result, (result as ToolResult)._meta);
  }

  function workOf(tool: CompiledTool, input: unknown, origin?: Origin): TaskWork {
    let prepared: Prepared | undefined;
    return {
      name: tool.name,
      args: origin?.call.params['arguments'] ?? {},
      options: tool.task ?? { support: 'optional' },
      runId: origin?.runId,
      prepare:
        origin &&
        (async () => {
          prepared = await stage.prepare(origin.call);
          stage.keeping(origin.call);
        }),
      async run(call, asking, onRunning) {
        const work = async (ctx: CallContext<never, never>): Promise<ToolResult | InputRequired> => {
          onRunning();
          return run(tool, input, call, ctx);
        };
        const result = await stage.within(call, asking, work, prepared);
        if (isInputRequired(result))
          throw new TypeError(`${tool.name} returns inputRequired and cannot run as a task`);
        if (!result.isError) asking.checkResult();
        return finishFor(tool)(result);
      },
      inline: async (background) => {
        if (origin === undefined) throw new TypeError('A task that is taken up has no call to answer');
        const { call, runId } = origin;
        return stage.perform(call, performance(tool, input, call, runId), background);
      },
    };
  }

  /** What it takes to run a task again that an earlier process left. */
  async function again({
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

  async function within(
    { call, asking, given }: Parameters<Services['callTool']>[0],
    name: string,
    args: object,
  ): Promise<ToolResult> {
    const tool = findTool(name);
    const inner = copyCall(call, { params: { name, arguments: args }, http: withoutMirror(call.http) });
    const input = await readArguments(tool, inner);
    if (!input.ok) return input.failure;
    const result = await stage.within(
      inner,
      asking,
      async (ctx) => run(tool, input.value, inner, ctx),
      given,
    );
    if (isInputRequired(result))
      throw new TypeError(`${name} returns inputRequired and cannot be called from a handler`);
    return result;
  }

  function run(
    tool: CompiledTool,
    input: unknown,
    call: Call,
    ctx: CallContext<never, never>,
  ): ToolResult | InputRequired | Promise<ToolResult | InputRequired> {
    const { timeoutMs } = tool;
    if (timeoutMs === undefined) return runTool({ tool, input, ctx, call }, parts);
    return withTimeLimit<ToolResult | InputRequired>(call, timeoutMs, {
      work: async (limit) => runTool({ tool, input, ctx: ctx.limitedBy(limit), call }, parts),
      late: () => {
        const why = `${tool.name} took longer than ${timeoutMs} ms and was stopped`;
        ctx.end(new McpError('timeout', why));
        return toolFailure(why);
      },
    });
  }

  function findTool(name: unknown): CompiledTool {
    if (typeof name !== 'string') throw new McpError('invalid_params', 'params.name must be a string');
    const tool = registry.tools.get(name);
    if (tool === undefined) throw unknownName('tool', name, registry.tools.names());
    return tool;
  }

  return { serve: callTool, within, again };
}

// Most results. What a spread makes of them would be slow to make and slow to print.
function isContentAlone(result: ToolResult | InputRequired): result is ToolResult {
  for (const key in result) if (key !== 'content') return false;
  return true;
}

// The headers that mirror a body mirror the outer call's.
function withoutMirror(http: HttpFacts | undefined): HttpFacts | undefined {
  return http?.mirrored === undefined ? http : { header: http.header, remoteAddress: http.remoteAddress };
}
