import type { Call, Middleware } from '../protocol/call.js';
import { type OptionTable, readOptions } from '../protocol/checks/options.js';
import { type ErrorCode, McpError } from '../protocol/errors.js';
import { asks, tell } from './facts/call-facts.js';

/** The options of `errors`: at least one of them. */
export interface ErrorsOptions {
  /**
   * Returns the error that the caller gets in place of the one that was thrown, or undefined to keep that one. On a server, only an
   * `McpError` reaches the caller as it is, and a `ToolError` as the result of a tool.
   */
  readonly map?: ((error: unknown, call: Call) => MappedError | Promise<MappedError>) | undefined;
  /**
   * The codes whose messages and data the caller must not see, after `map`. On a server, such an error becomes "Internal error" with a
   * reference, under which the log has it. Default: none.
   */
  readonly mask?: readonly ErrorCode[] | undefined;
  /** Called with every error as it was thrown, for example to report it. Its own errors are ignored. */
  readonly report?: ((error: unknown, call: Call) => void) | undefined;
}

/** The result of `map`. */
// biome-ignore lint/suspicious/noConfusingVoidType: a function that maps only some errors returns nothing for the others.
type MappedError = Error | undefined | void;

const optionTable = {
  map: 'function',
  mask: 'strings',
  report: 'function',
} as const satisfies OptionTable<ErrorsOptions>;

/**
 * Maps, masks and reports the errors of calls:
 * `errors({ map: (error) => (error instanceof NoRow ? new McpError('resource_not_found', 'No such row.') : undefined) })`.
 * A question to the client and the failed result of a tool are not errors.
 */
export function errors(options: ErrorsOptions): Middleware {
  const { map, mask, report } = readOptions('errors', options, optionTable);
  if (map === undefined && mask === undefined && report === undefined)
    throw new TypeError('errors needs `map`, `mask` or `report`.');
  const masked = new Set<ErrorCode>(mask);

  async function replace(error: unknown, call: Call): Promise<unknown> {
    const mapped = (await mapError(error, call)) ?? error;
    if (!McpError.is(mapped) || !masked.has(mapped.code)) return mapped;
    // Not an McpError, so that a server logs it with a reference, and tells the caller only the reference.
    return new Error(`Masked: ${mapped.message}`, { cause: mapped });
  }

  async function mapError(error: unknown, call: Call): Promise<MappedError> {
    try {
      return await map?.(error, call);
    } catch (thrown) {
      // A mapper that throws the same error, or another one for the caller, means it.
      if (thrown === error || McpError.is(thrown)) return thrown as Error;
      return new AggregateError([thrown, error], 'errors: `map` failed. Its error, and the one that it got:');
    }
  }

  return async function errors(call, next) {
    try {
      return await next(call);
    } catch (error) {
      if (asks(error)) throw error;
      if (report !== undefined) tell(report, error, call);
      throw await replace(error, call);
    }
  };
}
