import { isObject, type JsonObject } from '../jsonrpc/message.js';
import type { Middleware } from '../protocol/call.js';
import { type OptionTable, readOptions } from '../protocol/checks/options.js';
import { digestLists, KNOWN_DIGESTS, STALE_DIGESTS } from '../protocol/digest-names.js';
import { copyCall } from '../protocol/direct.js';
import { McpError } from '../protocol/errors.js';

/** The options of `knownDigests`. */
export interface KnownDigestsOptions {
  /**
   * Called with the methods of the lists that have changed, such as `tools/list`, when the server reports it with a call. List them again
   * with `fresh: true`. Its own errors are ignored.
   */
  readonly onStale?: ((lists: readonly string[]) => void) | undefined;
}

const optionTable = { onStale: 'function' } as const satisfies OptionTable<KnownDigestsOptions>;
const MAX_DIGEST_LENGTH = 200;

/**
 * Middleware for a client: tells the server which lists of tools and prompts the program has seen, so that a server that is being
 * replaced runs the definition that the program knows, or nothing. It implements a draft of the protocol, and has no effect with servers
 * that do not. Use one for each client: `connect(url, { use: [knownDigests()] })`.
 */
export function knownDigests(options: KnownDigestsOptions = {}): Middleware {
  const { onStale } = readOptions('knownDigests', options, optionTable);
  const known: Record<string, string> = {};

  function report(lists: unknown): void {
    const names = Array.isArray(lists) ? Object.keys(known).filter((name) => lists.includes(name)) : [];
    if (names.length === 0) return;
    try {
      onStale?.(names);
    } catch {
      // The call itself has succeeded, or has an error of its own.
    }
  }

  return async (call, next) => {
    const { method, params } = call;
    if (method === 'tools/list' || method === 'prompts/list') {
      const page = await next(call);
      const { digest } = page;
      if (typeof digest === 'string' && digest.length <= MAX_DIGEST_LENGTH) known[method] = digest;
      else delete known[method];
      return page;
    }
    const list = digestLists.get(method);
    if (list === undefined || known[list] === undefined) return next(call);
    try {
      const outcome = await next(copyCall(call, { params: withKnown(params, { [list]: known[list] }) }));
      const { _meta } = outcome;
      if (isObject(_meta)) report(_meta[STALE_DIGESTS]);
      return outcome;
    } catch (error) {
      if (McpError.is(error) && isObject(error.data)) report(error.data['staleDigests']);
      throw error;
    }
  };
}

function withKnown(params: JsonObject, digests: JsonObject): JsonObject {
  const { _meta } = params;
  return { ...params, _meta: { ...(isObject(_meta) && _meta), [KNOWN_DIGESTS]: digests } };
}
