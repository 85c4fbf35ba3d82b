import { KnownTools } from '../../client/checks/known-tools.js';
import type { Call, Dispatch, Middleware, Outcome } from '../../protocol/call.js';
import { type OptionTable, readOptions } from '../../protocol/checks/options.js';
import { isCacheable, isProtocolMethod } from '../../protocol/tables/methods.js';
import type { ClientMiddleware } from '../../protocol/telemetry/hosting.js';
import type { HostedMiddleware, MiddlewareHost, ServerResults } from '../../state/hosted-middleware.js';
import { ownerOf } from './call-keys.js';
import { KeptResults, type KeptResultsParts } from './kept-results.js';

/** The options of `cache`. */
export interface CacheOptions {
  /**
   * The longest time that a result is kept, in milliseconds, or a function that returns it for a call, or undefined for a call whose
   * result is not kept. A result that has a `ttlMs` is never kept for longer than that.
   */
  readonly ttlMs: number | ((call: Call) => number | undefined);
  /**
   * The tools whose results are kept: their names, or `readOnly` for all that declare that they change nothing. Default: none. In the
   * `use` of a tool, it is that tool.
   */
  readonly tools?: readonly string[] | 'readOnly' | undefined;
  /**
   * The scope of results that do not have one, as those of tools and prompts. `public`: they are the same for all callers that may make
   * the call. Default: `private`.
   */
  readonly cacheScope?: 'public' | 'private' | undefined;
  /** The number of results that are kept; beyond it, the least recently used are dropped. Default: 1,000. */
  readonly maxEntries?: number | undefined;
  /** The characters of all results together, as JSON. A result with more than a quarter of them is not kept. Default: 10,000,000. */
  readonly maxChars?: number | undefined;
}

const optionTable = {
  ttlMs: { is: ['function', 'ms'], min: 1, required: true },
  tools: { is: 'strings', oneOf: ['readOnly'] },
  cacheScope: { oneOf: ['public', 'private'], default: 'private' },
  maxEntries: { is: 'count', default: 1000 },
  maxChars: { is: 'count', default: 10_000_000 },
} as const satisfies OptionTable<CacheOptions>;

/** The methods that change nothing, besides those whose results have a `ttlMs`. */
const METHODS: readonly string[] = ['prompts/get', 'completion/complete'];

/** The place of the middleware: around a server, a client or a single tool, or in front of any other `Dispatch`. */
interface Place extends Pick<KeptResultsParts, 'ownerOf'> {
  readonly server?: ServerResults | undefined;
  /** Whether the calls are those of one tool. */
  readonly isOfTool?: boolean;
  /** Whether the calls are those of a client, which keeps results that have a `ttlMs` by itself. */
  readonly isOfClient?: boolean;
}

/**
 * Answers calls with the results of earlier ones: `cache({ ttlMs: 60_000, tools: ['search'] })`. Reads, prompts, completions and lists
 * are kept, and the results of the tools that `tools` names; each for the caller that got it, unless its `cacheScope` is `public`. Only
 * calls that the rules of access and the policy allow get a result. Errors and questions are not kept. The same calls at the same time
 * run once. A change that the server announces, in any process, drops what it concerns. Each process keeps its own results, in memory.
 */
export function cache(options: CacheOptions): HostedMiddleware & ClientMiddleware {
  const { ttlMs, tools, cacheScope, ...limits } = readOptions('cache', options, optionTable, {
    ttl: 'ttlMs',
    maxAge: 'ttlMs',
    maxSize: 'maxEntries',
  });

  function at({ server, ownerOf: owner, isOfTool = false, isOfClient = false }: Place): Middleware {
    const kept = new KeptResults({ limits, cacheScope, ownerOf: owner, server });
    const listed = new KnownTools(() => undefined);

    function isKept({ method, params: { name } }: Call): boolean {
      if (method !== 'tools/call') return METHODS.includes(method) || (isCacheable(method) && !isOfClient);
      if (tools === 'readOnly') return isReadOnly(name);
      return isOfTool || (tools ?? []).includes(name as string);
    }

    function isReadOnly(name: unknown): boolean {
      return server?.isReadOnly(String(name)) ?? listed.isReadOnly(name);
    }

    // A task and a method of the server may change anything, at any time.
    function mayChange({ method, params: { name } }: Call): boolean {
      return method === 'tools/call'
        ? !isReadOnly(name)
        : method.startsWith('tasks/') || !isProtocolMethod(method);
    }

    async function change(call: Call, next: Dispatch): Promise<Outcome> {
      try {
        return await next(call);
      } finally {
        kept.forget(call);
      }
    }

    async function learn(outcome: Promise<Outcome>): Promise<Outcome> {
      listed.learn((await outcome)['tools']);
      return outcome;
    }

    return function cache(call, next) {
      if (!isKept(call)) return mayChange(call) ? change(call, next) : next(call);
      const ms = typeof ttlMs === 'function' ? ttlMs(call) : ttlMs;
      const outcome = ms === undefined ? next(call) : kept.answer(call, next, checkedMs(ms));
      return call.method === 'tools/list' ? learn(outcome) : outcome;
    };
  }

  const unhosted = at({ ownerOf });
  const middleware: Middleware = (call, next) => unhosted(call, next);
  return Object.assign(middleware, {
    forServer({ place, results }: MiddlewareHost) {
      const isOfTool = place.startsWith('tools.');
      if (isOfTool && tools !== undefined)
        throw new TypeError(
          'cache in the "use" of a tool keeps the results of that tool. Remove the option `tools`, or put it in the "use" of the server.',
        );
      return at({ ownerOf, server: results, isOfTool });
    },
    // All calls of a client are those of one caller, whatever the server takes it for.
    forClient: () => at({ ownerOf: () => CLIENT, isOfClient: true }),
  });
}

const CLIENT = { name: 'client', context: 'client' };

function checkedMs(ms: unknown): number {
  if (typeof ms === 'number' && ms > 0) return ms;
  throw new TypeError('cache: the function "ttlMs" must return a number of milliseconds above 0.');
}
