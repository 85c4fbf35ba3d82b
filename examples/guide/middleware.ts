import { createServer, McpError, type Middleware, tool } from 'fullmcp';
import { rateLimit } from 'fullmcp/middleware';

// #region middleware
/** Reports how long each call took. */
export function timing(report: (line: string) => void): Middleware {
  return async function timing(call, next) {
    const startedAt = performance.now();
    try {
      return await next(call);
    } finally {
      report(`${call.method} took ${Math.round(performance.now() - startedAt)} ms`);
    }
  };
}

/** Rejects tool calls at night. */
export function closedAtNight(hour: () => number): Middleware {
  return async function closedAtNight(call, next) {
    if (call.method === 'tools/call' && hour() < 6) throw new McpError('overloaded', 'Come back after 6');
    return next(call);
  };
}

export const lines: string[] = [];

export default createServer({
  name: 'guide-middleware',
  version: '1.0.0',
  use: [timing((line) => lines.push(line)), closedAtNight(() => 12)],
  tools: { ping: tool({ run: () => 'pong' }) },
});
// #endregion

// #region tool
export const reports = createServer({
  name: 'guide-reports',
  version: '1.0.0',
  tools: {
    // Each caller may request 3 reports a minute, and any number of summaries.
    report: tool({ use: [rateLimit('3/min')], run: () => 'A long report' }),
    summary: tool({ run: () => 'A summary' }),
  },
});
// #endregion
