import type { JsonObject } from '../../jsonrpc/message.js';
import type { Call } from '../../protocol/call.js';
import { progressToken } from '../../protocol/meta.js';

type ProgressParams = JsonObject & { readonly progress: number };

/**
 * The params of `notifications/progress` for the arguments of `ctx.progress`; undefined if nothing is to be sent. The value must grow with
 * each notification (spec, Progress).
 */
export function nextProgress(
  values: readonly unknown[],
  last: number,
  call: Pick<Call, 'params'>,
): ProgressParams | undefined {
  const params = readProgress(values);
  const token = progressToken(call.params);
  if (token === undefined || params === undefined || !(params.progress > last)) return undefined;
  return { progressToken: token, ...params };
}

// A number that is not finite, such as 0/0, should not end a tool. A value of another type is a mistake.
function readProgress([done, total, message]: readonly unknown[]): ProgressParams | undefined {
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
