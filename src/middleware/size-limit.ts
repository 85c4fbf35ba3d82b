import type { JsonObject } from '../jsonrpc/message.js';
import type { Call, Middleware, Outcome } from '../protocol/call.js';
import { type OptionTable, readOptions } from '../protocol/checks/options.js';
import { McpError } from '../protocol/errors.js';
import { isLongLived } from './facts/call-facts.js';
import { charsBeyond } from './facts/json-size.js';
import { changingTasks, failedResult, toolResultOf, withToolResult } from './facts/tool-results.js';

/** The options of `sizeLimit`, in characters of JSON: at least one of them. */
export interface SizeLimitOptions {
  /** The largest parameters of a call, without `_meta`. Default: no limit besides that of the transport. */
  readonly maxParamsChars?: number | undefined;
  /** The largest result of a tool, a prompt, a read or a method of your own. Lists and questions are not limited. Default: no limit. */
  readonly maxResultChars?: number | undefined;
}

const optionTable = {
  maxParamsChars: 'count',
  maxResultChars: 'count',
} as const satisfies OptionTable<SizeLimitOptions>;

/**
 * Refuses calls whose parameters are too large, and results that are too large: `sizeLimit({ maxResultChars: 100_000 })`. A tool whose
 * result is too large fails with a message for the model; `outputBudget` shortens the result instead.
 */
export function sizeLimit(options: SizeLimitOptions): Middleware {
  const { maxParamsChars, maxResultChars } = {
    maxParamsChars: Number.POSITIVE_INFINITY,
    maxResultChars: Number.POSITIVE_INFINITY,
    ...readOptions('sizeLimit', options, optionTable),
  };
  if (options.maxParamsChars === undefined && options.maxResultChars === undefined)
    throw new TypeError('sizeLimit needs `maxParamsChars` or `maxResultChars`.');

  function checkParams({ params: { _meta, requestState, ...params } }: Call): void {
    const chars = charsBeyond(maxParamsChars, params);
    if (chars !== undefined)
      throw new McpError(
        'invalid_params',
        `The parameters have ${display(chars)} as JSON; at most ${maxParamsChars} are accepted. Send less.`,
      );
  }

  function checkResult({ _meta, ...rest }: JsonObject): string | undefined {
    const chars = charsBeyond(maxResultChars, rest);
    if (chars === undefined) return undefined;
    return `${display(chars)} as JSON; at most ${maxResultChars} are returned`;
  }

  function limited(call: Call, outcome: Outcome): Outcome {
    const result = toolResultOf(call, outcome);
    const hasOther = outcome.resultType === 'complete' && !isLongLived(call) && !describesServer(call);
    const problem = result !== undefined || hasOther ? checkResult(result ?? outcome) : undefined;
    if (problem === undefined) return outcome;
    if (result === undefined)
      throw new McpError('internal_error', `The result of ${call.method} has ${problem}. Ask for less.`);
    const text = `The tool has run, but its result has ${problem}. Ask for less, for example for one page or with a filter, if the tool may be called again.`;
    return withToolResult(call, outcome, failedResult(text, result));
  }

  return async function sizeLimit(call, next) {
    if (maxParamsChars !== Number.POSITIVE_INFINITY) checkParams(call);
    if (maxResultChars === Number.POSITIVE_INFINITY) return next(call);
    return limited(call, await next(changingTasks(call, async (get, outcome) => limited(get, outcome))));
  };
}

/** Whether the result describes the server. Without its lists, a client could not call anything. */
function describesServer({ method }: Call): boolean {
  return method === 'server/discover' || method.endsWith('/list');
}

function display(chars: number): string {
  return chars === Number.POSITIVE_INFINITY ? 'too many levels or characters' : `${chars} characters`;
}
