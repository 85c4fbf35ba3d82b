// The middleware that is measured, each as a small server would use it. A new built-in middleware gets a row here.

/** @typedef {typeof import('../../src/middleware.js') & typeof import('../../src/otel.js')} Built */

const ignore = () => undefined;

/**
 * @type {Readonly<Record<string, {
 *   what: string,
 *   budget?: number,
 *   use?: (built: Built) => readonly unknown[],
 *   access?: (built: Built) => unknown,
 * }>>}
 */
export const kinds = {
  none: { what: 'no middleware', use: () => [] },
  noop: {
    what: 'a middleware that does nothing',
    budget: 20,
    use: () => [(/** @type {object} */ call, /** @type {(call: object) => unknown} */ next) => next(call)],
  },
  audit: { what: 'audit, to a function', use: ({ audit }) => [audit({ to: async () => undefined })] },
  logging: { what: 'logging, to a function', use: ({ logging }) => [logging({ log: ignore })] },
  payloads: {
    what: 'logging with payloads, to a function',
    use: ({ logging }) => [logging({ log: ignore, payloads: true })],
  },
  knownTags: { what: 'knownTags, before a list', use: ({ knownTags }) => [knownTags()] },
  timing: { what: 'timing', use: ({ timing }) => [timing(ignore)] },
  timeout: { what: 'timeout', use: ({ timeout }) => [timeout(30_000)] },
  rateLimit: { what: 'rateLimit, in memory', use: ({ rateLimit }) => [rateLimit('100000000/s')] },
  concurrency: { what: 'concurrency', use: ({ concurrency }) => [concurrency({ limit: 10 })] },
  sizeLimit: {
    what: 'sizeLimit, parameters and results',
    use: ({ sizeLimit }) => [sizeLimit({ maxParamsChars: 100_000, maxResultChars: 100_000 })],
  },
  outputBudget: { what: 'outputBudget, small results', use: ({ outputBudget }) => [outputBudget()] },
  cache: { what: 'cache, a call that it does not keep', use: ({ cache }) => [cache({ ttlMs: 60_000 })] },
  cacheHit: {
    what: 'cache, a result that it keeps',
    use: ({ cache }) => [cache({ ttlMs: 3_600_000, tools: ['echo'] })],
  },
  telemetry: { what: 'telemetry, without an SDK', use: ({ telemetry }) => [telemetry()] },
  retry: { what: 'retry', use: ({ retry }) => [retry()] },
  circuitBreaker: {
    what: 'circuitBreaker, closed',
    use: ({ circuitBreaker }) => [circuitBreaker({ by: 'tool' })],
  },
  resilience: {
    what: 'resilience, with a policy that does nothing',
    use: ({ resilience }) => [resilience({ execute: (work) => work() })],
  },
  policy: {
    what: 'policy, with one rule',
    access: ({ policy }) => policy({ default: 'deny', rules: [{ effect: 'allow', tools: ['*'] }] }),
  },
  errors: { what: 'errors', use: ({ errors }) => [errors({ mask: ['remote_error'] })] },
};
