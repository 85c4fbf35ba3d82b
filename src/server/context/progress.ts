import type { JsonObject } from '../../jsonrpc/message.js';

/** The arguments of `ctx.progress`. */
export interface Reached {
  readonly done: unknown;
  readonly total: unknown;
  readonly message: unknown;
}

/**
 * The parameters of `notifications/progress`, without its token; undefined if there is nothing to report. A quotient such as 0/0
 * is not a mistake that should end a tool, so it is skipped. A value of another type is.
 */
export function readProgress({
  done,
  total,
  message,
}: Reached): (JsonObject & { readonly progress: number }) | undefined {
  if (typeof done !== 'number') throw mistake('the first argument must be a number', done);
  if (total !== undefined && typeof total !== 'number') throw mistake('the total must be a number', total);
  if (message !== undefined && typeof message !== 'string')
    throw mistake('the message must be a string', message);
  if (!Number.isFinite(done)) return undefined;
  return {
    progress: done,
    ...(Number.isFinite(total) && { total }),
    ...(message !== undefined && { message }),
  };
}

function mistake(what: string, value: unknown): TypeError {
  return new TypeError(
    `ctx.progress(): ${what}, not ${value === null ? 'null' : `a value of type ${typeof value}`}.`,
  );
}
