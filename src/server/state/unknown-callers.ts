// Calls whose caller the server cannot identify.

import type { Call } from '../../protocol/call.js';
import type { Logger } from './log.js';

/** Whether the server has the option `user`, but nothing else identifies the caller of this HTTP call. */
export function isUnknownCaller({ http, auth }: Pick<Call, 'http' | 'auth'>, hasUser: boolean): boolean {
  return hasUser && http !== undefined && auth === undefined;
}

/** Makes a function that warns the operator once if a call that leaves a task or answers behind has no identified caller. */
export function unknownCallerWarning(hasUser: boolean, log: Logger): (call: Call) => void {
  let hasWarned = false;
  return function warn(call) {
    if (hasWarned || !isUnknownCaller(call, hasUser)) return;
    hasWarned = true;
    log(
      'warning',
      'This server has "user" and no "auth", so anyone who knows the id of a task or the state of a question can use it, and "user" cannot identify the caller of a task that is resumed after a restart. Pass the option "auth" to serve, createHandler or createNodeHandler.',
    );
  };
}
