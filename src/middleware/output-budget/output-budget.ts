import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Call, Dispatch, Middleware, Outcome } from '../../protocol/call.js';
import { type OptionTable, readOptions } from '../../protocol/checks/options.js';
import { copyCall } from '../../protocol/direct.js';
import { McpError } from '../../protocol/errors.js';
import { SERVER_INFO } from '../../protocol/meta.js';
import { type OutputAddress, readOutputUri } from '../../protocol/model/output-uri.js';
import { faultData } from '../../protocol/not-found.js';
import type { HostedMiddleware, MiddlewareHost } from '../../state/hosted-middleware.js';
import { memoryStore } from '../../state/memory/store.js';
import type { Store } from '../../state/store.js';
import { PART_CHARS, StoredStrings } from '../../state/stored-strings.js';
import { changingTasks, toolResultOf, withToolResult } from '../facts/tool-results.js';
import { type LargePart, largePart, type StoredOutput, shortened } from './shorten-result.js';

/** The options of `outputBudget`. */
export interface OutputBudgetOptions {
  /**
   * The characters of text that a result of a tool may have, or a function that returns them for a call, or undefined for no limit.
   * Default: 20,000, about 5,000 tokens.
   */
  readonly maxChars?: number | ((call: Call) => number | undefined) | undefined;
  /** The characters at the beginning of a large result that the model sees. Default: 2,000. */
  readonly headChars?: number | undefined;
  /** The characters that one read returns, from 100 to 100,000. Default: 20,000. */
  readonly pageChars?: number | undefined;
  /** The time that a large result can be read, in milliseconds. Default: 1 hour. */
  readonly ttlMs?: number | undefined;
  /** The characters of one result that are stored; the rest is lost. Default: 1,000,000. */
  readonly maxStoredChars?: number | undefined;
  /** The number of results of one caller that are stored; a further one replaces the oldest. Default: 20. */
  readonly maxStored?: number | undefined;
}

const optionTable = {
  maxChars: { is: ['function', 'count'], default: 20_000 },
  headChars: { is: 'count', default: 2000 },
  pageChars: { is: 'count', min: 100, max: PART_CHARS, default: 20_000 },
  ttlMs: { is: 'count', default: 3_600_000 },
  maxStoredChars: { is: 'count', default: 1_000_000 },
  maxStored: { is: 'count', default: 20 },
} as const satisfies OptionTable<OutputBudgetOptions>;

/** The pages of a list of tools that are searched for one tool. */
const MAX_LIST_PAGES = 50;
const LISTS: Readonly<Record<string, string>> = {
  'resources/list': 'resources',
  'resources/templates/list': 'resourceTemplates',
};

/**
 * Replaces the text of a large result of a tool by its beginning and a link, so that it does not fill the context of the model:
 * `outputBudget({ maxChars: 20_000 })`. The whole text is a resource, which only the same caller can read, page by page. On a server it
 * is in the store of the server, so that every process can serve it; on a client, in memory.
 */
export function outputBudget(options: OutputBudgetOptions = {}): HostedMiddleware {
  const { maxChars, ...limits } = readOptions('outputBudget', options, optionTable);
  const { pageChars } = limits;
  const budgetOf = typeof maxChars === 'function' ? maxChars : () => maxChars;

  function budget(outputs: StoredStrings, log: MiddlewareHost['log']): Middleware {
    let isFailing = false;
    /** The description of the server that its results have. The results that are made here have it, too. */
    let meta: JsonObject | undefined;

    async function store(call: Call, { text, mimeType }: LargePart): Promise<StoredOutput | undefined> {
      try {
        const { id, place, chars } = await outputs.keep(call, text, mimeType);
        isFailing = false;
        return { uri: `output://${id}/${place}`, chars };
      } catch (error) {
        if (!isFailing)
          log('warning', 'A large result could not be stored, so that only its beginning can be read', error);
        isFailing = true;
        return undefined;
      }
    }

    async function shorten(call: Call, next: Dispatch): Promise<Outcome> {
      const outcome = await next(call);
      const result = toolResultOf(call, outcome);
      const max = result && budgetOf(call);
      if (result === undefined || max === undefined) return outcome;
      const large = largePart(result, max);
      if (large === undefined) return outcome;
      const isNeeded = result['structuredContent'] !== undefined && (await declaresOutput(call, next));
      if (isNeeded && large.isStructured) return outcome;
      learn(outcome);
      const stored = await store(call, large);
      const shorter = shortened(result, large, { ...limits, stored, keepsStructured: isNeeded, max });
      return withToolResult(call, outcome, shorter);
    }

    async function read(call: Call, next: Dispatch, address: OutputAddress): Promise<Outcome> {
      const page = await outputs.read(call, address, pageChars);
      const uri = String(call.params['uri']);
      // On a client, it may be the URI of a server that shortens its results, too.
      if (page === undefined) return next(call).catch((error: unknown) => throwNotFound(error, uri));
      const { text, mimeType, from, to, total } = page;
      const base = uri.split('?')[0] as string;
      const rest = `${base}?offset=${to}`;
      const note = `[Characters ${from} to ${to} of ${total}. The next ones: ${rest}]`;
      return complete({
        contents: [
          { uri, mimeType, text },
          ...(to < total ? [{ uri: rest, mimeType: 'text/plain', text: note }] : []),
        ],
        ttlMs: 0,
        cacheScope: 'private',
      });
    }

    function learn({ _meta }: Outcome): void {
      if (isObject(_meta) && SERVER_INFO in _meta) meta = { [SERVER_INFO]: _meta[SERVER_INFO] };
    }

    function complete(result: JsonObject): Outcome {
      return { resultType: 'complete', ...result, ...(meta && { _meta: meta }) };
    }

    return async function outputBudget(call, next) {
      const { method, params } = call;
      if (method === 'tools/call' || method === 'tasks/get') return shorten(call, next);
      const address = method === 'resources/read' ? readOutputUri(params['uri']) : undefined;
      if (address !== undefined) return read(call, next, address);
      const list = Object.hasOwn(LISTS, method) ? LISTS[method] : undefined;
      if (list !== undefined)
        return next(call).catch((error: unknown) => {
          if (!McpError.is(error) || error.code !== 'method_not_found') throw error;
          return complete({ [list]: [], ttlMs: 60_000, cacheScope: 'public' });
        });
      if (method === 'subscriptions/listen')
        return next(changingTasks(call, (get, outcome) => shorten(get, async () => outcome)));
      if (method !== 'server/discover') return next(call);
      const outcome = await next(call);
      const { capabilities } = outcome;
      learn(outcome);
      // Clients read resources only of servers that declare them.
      return isObject(capabilities) && capabilities['resources'] === undefined
        ? { ...outcome, capabilities: { ...capabilities, resources: {} } }
        : outcome;
    };
  }

  function storedOutputs(store: () => Store, name: string): StoredStrings {
    return new StoredStrings(store, { kind: 'output', name }, limits);
  }

  let own: Store | undefined;
  const unhosted = budget(
    storedOutputs(() => (own ??= memoryStore()), ''),
    () => undefined,
  );
  const middleware: Middleware = (call, next) => unhosted(call, next);
  return Object.assign(middleware, {
    forServer({ shared, place, log }: MiddlewareHost) {
      if (!place.startsWith('use.'))
        throw new TypeError(
          'outputBudget cannot be in the "use" of a tool, because it also answers the reads of resources. Put it in the "use" of the server; a function as `maxChars` gives each tool its own budget.',
        );
      return budget(
        storedOutputs(() => shared.store, JSON.stringify([shared.server, place])),
        log,
      );
    },
  });
}

const UNKNOWN_RESOURCE: readonly unknown[] = ['resource_not_found', 'method_not_found', 'invalid_params'];

function throwNotFound(error: unknown, uri: string): never {
  if (!McpError.is(error) || !UNKNOWN_RESOURCE.includes(error.code)) throw error;
  throw new McpError(
    'resource_not_found',
    `Not found: ${uri}. The result has expired, was replaced by newer ones, is another caller's, or ends before this offset. Call the tool again.`,
    { data: faultData('resource', uri) },
  );
}

/** Whether a tool declares the schema of its structured content, without which clients reject its result. In doubt, it does. */
async function declaresOutput(call: Call, next: Dispatch): Promise<boolean> {
  const { name } = call.params;
  let cursor: unknown;
  for (let page = 0; page < MAX_LIST_PAGES && call.method === 'tools/call'; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const { tools, nextCursor } = await next(copyCall(call, { method: 'tools/list', params })).catch(
      () => ({}) as JsonObject,
    );
    const tool: unknown = Array.isArray(tools)
      ? tools.find((each: unknown) => isObject(each) && each['name'] === name)
      : undefined;
    if (isObject(tool)) return tool['outputSchema'] !== undefined;
    if (nextCursor === undefined) break;
    cursor = nextCursor;
  }
  return true;
}
