import type { Call, Dispatch, Middleware, Outcome } from '../../protocol/call.js';
import { digestOf } from '../../protocol/canonical.js';
import { type OptionTable, readOptions } from '../../protocol/checks/options.js';
import { encodeBase64Url } from '../../protocol/encoding/base64.js';
import { McpError } from '../../protocol/errors.js';
import type { HostedMiddleware, MiddlewareHost } from '../../state/hosted-middleware.js';
import { type CallGroup, callGroup, groupNamer } from '../facts/call-groups.js';
import { type Limiter, memoryLimiter } from './limiter.js';
import { type Rate, type ReadRate, readRate } from './rate.js';
import { sharedLimiter } from './shared-limiter.js';

/** The options of `rateLimit`: at least one rate. */
export interface RateLimitOptions {
  /** The rate of all calls together. `ping` does not count. Default: no limit. */
  readonly calls?: Rate | undefined;
  /** The rate of `tools/call`. Default: no limit. */
  readonly tools?: Rate | undefined;
  /** The rate of `resources/read`. Default: no limit. */
  readonly reads?: Rate | undefined;
  /** The rate of `prompts/get`. Default: no limit. */
  readonly prompts?: Rate | undefined;
  /**
   * The calls that are counted together. Default: `caller`, those of one authenticated caller, or of one address if nobody is
   * authenticated.
   */
  readonly by?: CallGroup | undefined;
  /** The largest number of callers that are counted at a time in this process. Default: 100,000. */
  readonly maxKeys?: number | undefined;
}

const optionTable = {
  calls: 'any',
  tools: 'any',
  reads: 'any',
  prompts: 'any',
  by: { ...callGroup, default: 'caller' },
  maxKeys: { is: 'count', default: 100_000 },
} as const satisfies OptionTable<RateLimitOptions>;

/** The method that each rate is for. */
const METHODS = { tools: 'tools/call', reads: 'resources/read', prompts: 'prompts/get' } as const;

interface Rule {
  readonly name: string;
  readonly rate: ReadRate;
}

/**
 * Limits the rate of calls: `rateLimit('100/min')`, or `rateLimit({ tools: '100/min', reads: '300/min' })`. A call beyond it is
 * refused with HTTP 429, and its error says when to retry: clients of fullmcp wait that long and retry. All processes of a server
 * with a `cluster` share the rates.
 */
export function rateLimit(rates: Rate | RateLimitOptions): HostedMiddleware {
  const { by, maxKeys, ...options } = readOptions('rateLimit', toOptions(rates), optionTable);
  const rules = readRules(options);
  const nameOf = groupNamer(by);

  function limit(limiter: Limiter): Middleware {
    return function rateLimit(call, next) {
      const applied = rules.get(call.method) ?? rules.get('');
      const name = applied && call.method !== 'ping' ? nameOf(call) : undefined;
      if (applied === undefined || name === undefined) return next(call);
      return admit(call, next, { limiter, name, applied });
    };
  }

  const unhosted = limit(memoryLimiter({ maxKeys }));
  const middleware: Middleware = (call, next) => unhosted(call, next);
  return Object.assign(middleware, {
    forServer: (host: MiddlewareHost) => limit(limiterFor(host, memoryLimiter({ maxKeys }))),
  });
}

interface Admission {
  readonly limiter: Limiter;
  readonly name: string;
  readonly applied: readonly Rule[];
}

function admit(call: Call, next: Dispatch, { limiter, name, applied }: Admission): Promise<Outcome> {
  for (const [at, { name: rule, rate }] of applied.entries()) {
    const waitMs = limiter.take(`${rule} ${name}`, rate);
    if (typeof waitMs !== 'number')
      return waitMs.then((ms) => {
        if (ms > 0) throw tooMany(ms, rate);
        return admit(call, next, { limiter, name, applied: applied.slice(at + 1) });
      });
    if (waitMs > 0) return Promise.reject(tooMany(waitMs, rate));
  }
  return next(call);
}

function tooMany(waitMs: number, { display }: ReadRate): McpError {
  // The call one millisecond before the time would be refused again.
  const retryAfterMs = Math.ceil(waitMs);
  return new McpError(
    'overloaded',
    `Too many calls: the limit is ${display}. Retry in ${(retryAfterMs / 1000).toFixed(retryAfterMs < 10_000 ? 1 : 0)} s.`,
    // In the data, too, for transports without a status.
    { status: 429, data: { status: 429, retryAfterMs } },
  );
}

/** The limiter of a server: that of its store if several processes share it. If the store fails, each process counts its own calls. */
function limiterFor({ shared, place, log }: MiddlewareHost, own: Limiter): Limiter {
  let isFailing = false;
  const common = sharedLimiter(shared.store);
  const takeShared = async (key: string, rate: ReadRate): Promise<number> => {
    try {
      const digest = await digestOf(JSON.stringify([shared.server, place, key]));
      const waitMs = await common.take(`rate:${encodeBase64Url(digest)}`, rate);
      isFailing = false;
      // So that this process knows its own calls if the store fails next.
      if (waitMs === 0) own.take(key, rate);
      return waitMs;
    } catch (error) {
      if (!isFailing)
        log('warning', 'The store failed, so each process limits the rate of its own calls for now', error);
      isFailing = true;
      return own.take(key, rate);
    }
  };
  return { take: (key, rate) => (shared.bus() === undefined ? own.take(key, rate) : takeShared(key, rate)) };
}

function toOptions(rates: Rate | RateLimitOptions): RateLimitOptions {
  const isRate =
    typeof rates === 'string' || (typeof rates === 'object' && rates !== null && 'limit' in rates);
  return isRate ? { calls: rates } : rates;
}

/** The rules for each method; those for all others have an empty name. */
function readRules(options: RateLimitOptions): ReadonlyMap<string, readonly Rule[]> {
  const all = options.calls === undefined ? [] : [ruleOf('calls', options.calls)];
  const rules = new Map<string, readonly Rule[]>(all.length === 0 ? [] : [['', all]]);
  for (const [name, method] of Object.entries(METHODS)) {
    const rate = options[name as keyof typeof METHODS];
    // The narrower rate first: a call that it refuses does not count for the wider one.
    if (rate !== undefined) rules.set(method, [ruleOf(name, rate), ...all]);
  }
  if (rules.size === 0)
    throw new TypeError('rateLimit needs a rate: rateLimit("100/min") or rateLimit({ tools: "100/min" }).');
  return rules;
}

function ruleOf(name: string, rate: Rate): Rule {
  return { name, rate: readRate(rate, `rateLimit: \`${name}\``) };
}
