import { createServer, McpError, tool } from 'fullmcp';
import {
  cache,
  concurrency,
  errors,
  logging,
  outputBudget,
  rateLimit,
  sizeLimit,
  timeout,
  timing,
} from 'fullmcp/middleware';
import { z } from 'zod';

class NoSuchOrder extends Error {}

export const reported: unknown[] = [];
export const slow: string[] = [];
export const entries: object[] = [];

// #region all
export const server = createServer({
  name: 'shop',
  version: '1.0.0',
  use: [
    errors({ report: (error) => reported.push(error), mask: ['connect_failed', 'remote_error'] }),
    logging({ log: (entry) => entries.push(entry) }),
    timing(({ method, target, ms }) => void (ms > 1000 && slow.push(`${method} ${target}`))),
    rateLimit({ tools: '100/min', reads: '300/min' }),
    sizeLimit({ maxParamsChars: 100_000, maxResultChars: 1_000_000 }),
    timeout(30_000),
    concurrency({ limit: 20 }),
    outputBudget({ maxChars: 20_000 }),
    cache({ ttlMs: 60_000, tools: ['order'] }),
  ],
  tools: {
    order: tool({
      input: z.object({ id: z.int() }),
      run: ({ id }) => ({ id, paid: true }),
    }),
    report: tool({
      use: [concurrency({ limit: 2, queue: 5 })],
      run: () => 'One line of the report\n'.repeat(10_000),
    }),
  },
});
// #endregion

// #region logging
export const quiet = logging(); // one line of JSON for each call, to stderr
export const detailed = logging({
  payloads: true, // parameters and results, without secrets
  maxPayloadChars: 500,
  redact: ['iban', 'arguments.card.number'],
  when: ({ method }) => method !== 'ping',
  log: (entry) => process.stdout.write(`${JSON.stringify(entry)}\n`),
});
// #endregion

// #region timing
const histogram = new Map<string, number[]>();

export const measured = timing(({ method, end, ms }) => {
  const key = `${method} ${end}`; // the target is the client's text: too many values for a metric
  histogram.set(key, [...(histogram.get(key) ?? []), ms]);
});
// #endregion

// #region timeout
export const tenSeconds = timeout(10_000);
export const dependsOnTool = timeout(({ method, params }) =>
  method !== 'tools/call' ? 5000 : params['name'] === 'report' ? undefined : 10_000,
);
// #endregion

// #region concurrency
export const together = concurrency({ limit: 20, queue: 100, maxWaitMs: 5000 });
export const fair = concurrency({ limit: 4, by: 'caller' });
// #endregion

// #region rate-limit
export const simple = rateLimit('100/min');
export const precise = rateLimit({ tools: '100/min', reads: '300/min', by: 'caller' });
export const ofEachTool = rateLimit({ tools: { limit: 10, perMs: 60_000, burst: 2 }, by: 'tool' });
// #endregion

// #region size-limit
export const bounded = sizeLimit({ maxParamsChars: 100_000, maxResultChars: 1_000_000 });
// #endregion

// #region output-budget
export const budget = outputBudget({
  maxChars: ({ params }) => (params['name'] === 'export' ? undefined : 20_000),
  headChars: 2000, // the beginning that the model sees at once
  pageChars: 20_000, // what one read returns
  ttlMs: 60 * 60_000,
  maxStored: 20, // results of each caller
  maxStoredChars: 1_000_000, // of one result
});
// #endregion

// #region errors
export const mapped = errors({
  map: (error) =>
    error instanceof NoSuchOrder ? new McpError('resource_not_found', 'There is no such order.') : undefined,
  mask: ['connect_failed', 'bad_response', 'remote_error'],
  report: (error, call) => console.error(call.method, error),
});
// #endregion

// #region cache
export const kept = cache({
  ttlMs: 60_000, // the longest time; a result's own `ttlMs` may be shorter
  tools: ['order', 'search'], // or 'readOnly': all tools that declare it
});

export const weather = tool({
  input: z.object({ city: z.string() }),
  use: [cache({ ttlMs: 600_000, cacheScope: 'public' })], // the same for everyone who may call it
  run: ({ city }) => forecast(city),
});
// #endregion

async function forecast(city: string): Promise<string> {
  return `Sunny in ${city}`;
}
