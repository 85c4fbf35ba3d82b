import type { JsonObject } from '../../jsonrpc/message.js';

/** The arguments of `ctx.progress`. */
export interface ProgressArguments {
  readonly done: unknown;
  readonly total: unknown;
  readonly message: unknown;
}

/**
 * Reads the arguments of `ctx.progress` as the params of `notifications/progress`, without the token. Returns undefined for a
 * number that is not finite, such as 0/0, which should not end a tool. Throws for a value of another type.
 */
export function readProgress({
  done,
  total,
  message,
}: ProgressArguments): (JsonObject & { readonly progress: number }) | undefined {
  if (typeof done !== 'number') throw wrongType('the first argument must be a number', done);
  if (total !== undefined && typeof total !== 'number') throw wrongType('the total must be a number', total);
  if (message !== undefined && typeof message !== 'string')
    throw wrongType('the message must be a string', message);
  if (!Number.isFinite(done)) return undefined;
  return {
    progress: done,
    ...(Number.isFinite(total) && { total }),
    ...(message !== undefined && { message }),
  };
}

function wrongType(problem: string, value: unknown): TypeError {
  return new TypeError(
    `ctx.progress(): ${problem}, not ${value === null ? 'null' : `a value of type ${typeof value}`}.`,
  );
}
