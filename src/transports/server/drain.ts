import { settlesWithin } from '../../async/deadline.js';
import { McpError } from '../../protocol/errors.js';

/** The open calls that a shutdown waits for. */
export interface DrainableCalls {
  readonly size: number;
  /** Ends the calls that do not end by themselves. */
  endSubscriptions(reason: McpError): void;
  /** Ends every call that is still open. */
  endAll(reason: McpError): void | Promise<void>;
  /** Resolves when no call is open. */
  settled(): Promise<void>;
}

/** The error of calls that a shutdown ends. */
export function shutdownError(): McpError {
  return new McpError('connection_closed', 'The server is shutting down');
}

/** Ends subscriptions at once, lets the other calls finish until the deadline, and then ends those too. */
export async function drain(calls: DrainableCalls, deadlineMs: number): Promise<void> {
  const shutdown = shutdownError();
  calls.endSubscriptions(shutdown);
  if (calls.size > 0) await settlesWithin(calls.settled(), deadlineMs);
  await calls.endAll(shutdown);
}
