// Calls whose caller the server cannot identify.

import type { Call } from '../../protocol/call.js';
import type { Logger } from './log.js';

/** Whether the server makes a user for each call, but cannot identify the caller of this one without that user. */
export function isUnknownCaller({ http, auth }: Pick<Call, 'http' | 'auth'>, hasUser: boolean): boolean {
  return hasUser && http !== undefined && auth === undefined;
}

/** Makes a function that warns the operator once that tasks and answers do not belong to an identified caller. */
export function unknownCallerWarning(hasUser: boolean, log: Logger): (call: Call) => void {
  let hasWarned = false;
  return function warn(call) {
    if (hasWarned || !isUnknownCaller(call, hasUser)) return;
    hasWarned = true;
    log(
      'warning',
      'This server has "user" and no "auth", so tasks and answers to questions belong to whoever knows their id, and a task that is resumed after a restart has no user. Pass the option "auth" to serve, createHandler or createNodeHandler.',
    );
  };
}
