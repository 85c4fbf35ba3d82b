import { McpError, type Middleware } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { concurrency, type HostedMiddleware, logging, outputBudget, timeout } from 'fullmcp/middleware';
import { server } from './server.js';

// #region client
export const client = await connect(server, {
  use: [
    logging({ when: ({ method }) => method === 'tools/call' }),
    timeout(20_000),
    concurrency({ limit: 8 }),
    outputBudget(),
  ],
});
// #endregion

// #region own
/** Refuses calls while the service is being maintained. */
export function maintenance(isOn: () => boolean): Middleware {
  return async function maintenance(call, next) {
    if (isOn() && call.method === 'tools/call')
      throw new McpError('overloaded', 'The service is being maintained.', {
        data: { retryAfterMs: 60_000 },
      });
    return next(call);
  };
}
// #endregion

// #region hosted
/** Counts the calls of each tool, in all processes of a server. */
export function counting(): HostedMiddleware {
  const counts = new Map<string, number>();
  const inMemory: Middleware = async (call, next) => {
    counts.set(call.method, (counts.get(call.method) ?? 0) + 1);
    return next(call);
  };
  return Object.assign(inMemory, {
    forServer: ({ shared, place, log }) =>
      async function counting(call, next) {
        const key = `calls:${shared.server}:${place}:${call.method}`;
        await shared.store
          .write([{ do: 'count', key, by: 1 }])
          .catch((error: unknown) => log('warning', 'A call was not counted', error));
        return next(call);
      },
  } satisfies Pick<HostedMiddleware, 'forServer'>);
}
// #endregion
