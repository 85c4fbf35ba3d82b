import { isObject, type JsonObject } from '../jsonrpc/message.js';
import type { Middleware } from '../protocol/call.js';
import { type OptionTable, readOptions } from '../protocol/checks/options.js';
import {
  checkedCalls,
  isTagged,
  KNOWN_TAGS,
  STALE_TAGS,
  type TaggedMethod,
} from '../protocol/definition-tags.js';
import { copyCall } from '../protocol/direct.js';
import { McpError } from '../protocol/errors.js';
import type { ClientHost, ClientMiddleware } from '../protocol/telemetry/hosting.js';

/** The options of `knownTags`. */
export interface KnownTagsOptions {
  /**
   * Called with the methods whose results have changed, such as `tools/list`, when the server reports it with a call. The client has
   * dropped what it had cached of them, so that listing again asks the server. Its own errors are ignored.
   */
  readonly onStale?: ((methods: readonly string[]) => void) | undefined;
}

const optionTable = { onStale: 'function' } as const satisfies OptionTable<KnownTagsOptions>;
const MAX_TAG_LENGTH = 200;

/**
 * Middleware for a client: tells the server which lists and which instructions the program has seen, so that a server that is being
 * replaced runs the definition that the program knows, or nothing. It implements a draft of the protocol, and has no effect with servers
 * that do not. `connect(url, { use: [knownTags()] })`.
 */
export function knownTags(options: KnownTagsOptions = {}): ClientMiddleware {
  const { onStale } = readOptions('knownTags', options, optionTable);

  function forClient(host?: ClientHost): Middleware {
    const known = new Map<TaggedMethod, string>();
    let discovered: object | undefined;

    function learn(method: TaggedMethod, tag: unknown): void {
      if (typeof tag === 'string' && tag.length <= MAX_TAG_LENGTH) known.set(method, tag);
      else known.delete(method);
    }

    // Each connection begins with `server/discover`, which no middleware sees.
    function learnFromLink(): void {
      const current = host?.link()?.discovered as { readonly tag?: unknown } | undefined;
      if (current === undefined || current === discovered) return;
      discovered = current;
      learn('server/discover', current.tag);
    }

    // Some servers send a map of methods instead of an array.
    function report(stale: unknown): void {
      const named = Array.isArray(stale) ? stale : isObject(stale) ? Object.keys(stale) : [];
      const methods = [...known.keys()].filter((method) => named.includes(method));
      if (methods.length === 0) return;
      for (const method of methods) host?.forget(method);
      try {
        onStale?.(methods);
      } catch {
        // The call itself has succeeded, or has an error of its own.
      }
    }

    return async function knownTags(call, next) {
      const { method, params } = call;
      learnFromLink();
      if (isTagged(method)) {
        const outcome = await next(call);
        learn(method, outcome['tag']);
        return outcome;
      }
      if (known.size === 0 || !checkedCalls.has(method)) return next(call);
      try {
        const tagged = withKnown(params, Object.fromEntries(known));
        const outcome = await next(copyCall(call, { params: tagged }));
        const { _meta } = outcome;
        if (isObject(_meta)) report(_meta[STALE_TAGS]);
        return outcome;
      } catch (error) {
        if (McpError.is(error) && isObject(error.data)) report(error.data['staleTags']);
        throw error;
      }
    };
  }

  return Object.assign(forClient(), { forClient });
}

function withKnown(params: JsonObject, tags: JsonObject): JsonObject {
  const { _meta } = params;
  return { ...params, _meta: { ...(isObject(_meta) && _meta), [KNOWN_TAGS]: tags } };
}
