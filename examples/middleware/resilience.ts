import { McpError } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { circuitBreaker, type ResiliencePolicy, resilience, retry } from 'fullmcp/middleware';
import { server } from './server.js';

export const states: string[] = [];

/** Stands for a policy of another library. */
const policy: ResiliencePolicy = { execute: (work) => work() };

// #region retry
export const retrying = retry({
  maxRetries: 3,
  tools: ['order'], // safe to repeat, although it has no annotations
});
// #endregion

// #region breaker
export const client = await connect(server, {
  use: [
    circuitBreaker({
      failures: 5, // in a row
      openMs: 30_000,
      onChange: (state) => states.push(state),
    }),
  ],
});
// #endregion

// #region policy
export const own = resilience(policy, {
  // An error of the library is not an error of the protocol.
  mapError: (error) =>
    McpError.is(error)
      ? error
      : new McpError('overloaded', 'The service does not respond.', { cause: error }),
});
// #endregion
