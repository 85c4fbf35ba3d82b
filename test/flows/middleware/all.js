// Every middleware. JavaScript, since the servers of child processes use it, too.
import {
  audit,
  cache,
  circuitBreaker,
  concurrency,
  errors,
  logging,
  outputBudget,
  rateLimit,
  resilience,
  retry,
  sizeLimit,
  timeout,
  timing,
} from 'fullmcp/middleware';
import { telemetry } from 'fullmcp/otel';

/** @type {import('./all.js').allMiddleware} */
export function allMiddleware(entries, maxChars = 10_000) {
  return [
    telemetry(),
    audit({ to: async () => undefined, intent: true }),
    errors({ map: () => undefined, mask: ['connect_failed'], report: () => undefined }),
    logging({ payloads: true, log: (entry) => void entries?.push(entry) }),
    timing(() => undefined),
    rateLimit({ calls: '1000000/s', tools: '1000000/s', reads: '1000000/s' }),
    sizeLimit({ maxParamsChars: 100_000_000, maxResultChars: 100_000_000 }),
    timeout(120_000),
    concurrency({ limit: 100_000, by: 'caller' }),
    outputBudget({ maxChars }),
    // The servers of some tests change what they return, and do not announce it.
    cache({ ttlMs: 1, tools: 'readOnly' }),
    retry(),
    circuitBreaker({ failures: 1000, by: 'tool' }),
    resilience({ execute: (work, signal) => work(signal && { signal: AbortSignal.any([signal]) }) }),
  ];
}
