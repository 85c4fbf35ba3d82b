// Runs the handlers of tools, and checks their results.

import type { Call } from '../../protocol/call.js';
import { McpError } from '../../protocol/errors.js';
import { toolEvents } from '../../protocol/telemetry/tracing.js';
import { withThrown } from '../../protocol/thrown-by-tool.js';
import type { CompiledSchema } from '../../schema/check/compiled-schema.js';
import type { ValidationResult } from '../../schema/check/issue.js';
import { explainLater } from '../../schema/explain-later.js';
import { type InputRequired, isInputRequired } from '../asking/input-required.js';
import type { CallContext } from '../context/call-context.js';
import { runWithTimeout } from '../context/call-timeout.js';
import type { Context } from '../context/context.js';
import type { HandlerRun } from '../context/handler-run.js';
import type { ToolPolicy } from '../define/policy.js';
import type { MapError } from '../results/map-error.js';
import { structuredResult, toolFailure, toToolResult } from '../results/results.js';
import { mask, ToolError } from '../results/tool-error.js';
import type { ToolResult } from '../results/tool-result.js';
import { readResultWith } from '../results/written-results.js';
import type { Logger } from '../state/log.js';

/** The parts of the server that handle the errors of a handler. */
export interface ToolErrors {
  readonly log: Logger;
  readonly mapError: MapError;
}

/** A tool's handler as its author wrote it, or a function that loads it first. */
export type AnyToolHandler = (input: unknown, ctx: Context) => unknown;

/** A tool's handler, with the schema of its result. */
interface RunnableTool {
  readonly name: string;
  readonly output: CompiledSchema | undefined;
  readonly run: AnyToolHandler;
}

/** The result of a run: that of the tool, or questions. */
export type ToolRunResult = ToolResult | InputRequired;

type RunTool = HandlerRun<unknown, ToolRunResult>['run'];

/**
 * Makes the function that runs a handler. An error that the handler throws becomes a result, except for protocol errors. A
 * synchronous handler gives its result synchronously.
 */
export function toolRunner(tool: RunnableTool, errors: ToolErrors): RunTool {
  return runTool;

  // Traced, it enters twice: a function in between would be one more frame in every stack trace.
  function runTool(
    ...[input, ctx, call, isTraced]: [...Parameters<RunTool>, isTraced?: true]
  ): ReturnType<RunTool> {
    if (toolEvents?.hasSubscribers && !isTraced)
      return toolEvents.tracePromise(async () => runTool(input, ctx, call, true), {
        name: tool.name,
        input,
        call,
      });
    try {
      const value = tool.run(input, ctx);
      // A thenable need not be a promise: query builders are thenables, too.
      if (isThenable(value)) return awaitTool(value, ctx, call);
      if (isAsyncGenerator(value)) return awaitTool(readYielded(value, ctx), ctx, call);
      const result = toResult(tool, value);
      return result instanceof Promise ? result.catch((error) => failTool(error, ctx, call)) : result;
    } catch (error) {
      return failTool(error, ctx, call);
    }
  }

  async function awaitTool(
    value: PromiseLike<unknown>,
    ctx: CallContext<never, never>,
    call: Call,
  ): Promise<ToolRunResult> {
    try {
      const settled = await value;
      return await toResult(tool, isAsyncGenerator(settled) ? await readYielded(settled, ctx) : settled);
    } catch (error) {
      return failTool(error, ctx, call);
    }
  }

  async function failTool(error: unknown, ctx: CallContext<never, never>, call: Call): Promise<ToolResult> {
    // The run was ended from outside, so that reason counts, and not the handler's error.
    if (ctx.endReason !== undefined) throw ctx.endReason;
    // A model reads the failed result of a tool, and should know that the user said no.
    if (McpError.is(error) && error.code === 'user_rejected') return toolFailure(error.message);
    if (McpError.is(error)) throw error;
    // The call was cancelled, so the handler's error is not reported.
    if (ctx.signal.aborted) throw new McpError('cancelled', 'The call was cancelled', { cause: error });
    if (ToolError.is(error)) return toolFailure(error.message);
    const replacement = await errors.mapError(error, call);
    if (McpError.is(replacement)) throw replacement;
    if (replacement !== undefined) return toolFailure(replacement.message);
    return withThrown(toolFailure(mask(error, `Tool "${tool.name}"`, errors.log)), error);
  }
}

/** Makes a function that ends the run of a handler that takes too long. */
export function withTimeout(name: string, timeoutMs: number, run: RunTool): RunTool {
  return function runToolWithTimeout(input, ctx, call) {
    return runWithTimeout<ToolRunResult>(call, timeoutMs, {
      work: async (timeout) => run(input, ctx.withTimeout(timeout), call),
      onTimeout: () => {
        // A mounted tool has another name for its caller.
        const message = `${String(call.params['name'] ?? name)} took longer than ${timeoutMs} ms and was stopped`;
        ctx.end(new McpError('timeout', message));
        return toolFailure(message);
      },
    });
  };
}

/**
 * Makes a function that runs a handler only if the policy allows it, or a person approves it. `level` is the name of a mounted tool, if the
 * policy is that of the server that it is mounted in.
 */
export function withPolicy(policy: ToolPolicy, run: RunTool, level?: string): RunTool {
  return async function runToolWithPolicy(input, ctx, call) {
    const asking: Pick<CallContext<never, never>, 'askForApproval'> = {
      askForApproval: (message, subject) => ctx.askForApproval(message, subject, level),
    };
    const refusal = await policy.refusal(input, asking, call);
    return refusal === undefined ? run(input, ctx, call) : toolFailure(refusal);
  };
}

// A stream has no `next`: what it carries is bytes more often than content.
function isAsyncGenerator(value: unknown): value is AsyncGenerator {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value && 'next' in value;
}

// Loaded only if a tool yields.
async function readYielded(value: AsyncGenerator, ctx: CallContext<never, never>): Promise<unknown> {
  const { runYielding } = await import('../context/run-yielding.js');
  return runYielding(value, ctx);
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    value instanceof Promise ||
    (typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function')
  );
}

function toResult({ output }: RunnableTool, value: unknown): ToolRunResult | Promise<ToolResult> {
  if (isInputRequired(value)) return value;
  return output === undefined ? toToolResult(value) : checkOutput(output, value);
}

// With an output schema, every success needs structured content that fits it; a failure does not.
function checkOutput(output: CompiledSchema, value: unknown): ToolResult | Promise<ToolResult> {
  const toolResult = readResultWith(output, value);
  if (toolResult?.isError) return toolResult;
  const checked = output.validate(toolResult ? toolResult.structuredContent : value);
  return checked instanceof Promise
    ? checked.then((result) => toCheckedResult(output, value, { toolResult, checked: result }))
    : toCheckedResult(output, value, { toolResult, checked });
}

function toCheckedResult(
  output: CompiledSchema,
  value: unknown,
  {
    toolResult,
    checked,
  }: { readonly toolResult: ToolResult | undefined; readonly checked: ValidationResult<unknown> },
): ToolResult | Promise<ToolResult> {
  if (!checked.ok) {
    return explainLater(checked.issues, output, value).then((problem) => {
      throw new TypeError(`The handler's value does not fit the tool's output schema. ${problem}`);
    });
  }
  return toolResult ? { ...toolResult, structuredContent: checked.value } : structuredResult(checked.value);
}
