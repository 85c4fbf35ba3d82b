import type { Call } from '../../protocol/call.js';
import type { Log } from './log.js';

/** Whether a server that makes a user for each call cannot tell whose call this is: the request is all it knows. */
export function isUnknownCaller({ http, auth }: Pick<Call, 'http' | 'auth'>, hasUser: boolean): boolean {
  return hasUser && http !== undefined && auth === undefined;
}

/** Tells the operator once that what is kept for later belongs to nobody. */
export function unknownCallerWarning(hasUser: boolean, log: Log): (call: Call) => void {
  let hasWarned = false;
  return function warn(call) {
    if (hasWarned || !isUnknownCaller(call, hasUser)) return;
    hasWarned = true;
    log(
      'warning',
      'This server has "user" and no "auth", so tasks and answers to questions belong to whoever knows their id, and a task that is resumed after a restart has no user. Give the option "auth" to serve, createHandler or createNodeHandler.',
    );
  };
}
