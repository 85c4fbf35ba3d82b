// Digests of lists, and calls by clients that know them. Draft "Definition Digests" of the transports working group, September 2026.

import { isObject, type JsonObject } from '../../../jsonrpc/message.js';
import { type Call, type Dispatch, type Outcome, withPrint } from '../../../protocol/call.js';
import { digestLists, KNOWN_DIGESTS, STALE_DIGESTS } from '../../../protocol/digest-names.js';
import { copyCall } from '../../../protocol/direct.js';
import { McpError } from '../../../protocol/errors.js';
import { modernRevisions } from '../../../protocol/tables/features.js';
import type { SharedState } from '../../../state/cluster.js';
import type { Registry } from '../../catalog/registry.js';
import type { Logger } from '../../state/log.js';
import { type Listed, type Snapshot, Snapshots } from './snapshot.js';
import { StoredCatalogs } from './stored-catalogs.js';

/** The parts of a server that digests need. */
export interface DigestParts {
  readonly registry: Registry;
  readonly shared: SharedState;
  readonly log: Logger;
}

/** The lists that have a digest, with their field. The list of resources may be made anew for each request, so it has none. */
const fields = { 'tools/list': 'tools', 'prompts/list': 'prompts' } as const;
type ListMethod = keyof typeof fields;

/** Answers the calls of one server. */
export class Digests {
  readonly #registry: Registry;
  readonly #snapshots = new Snapshots();
  readonly #stored: StoredCatalogs;
  /** The pages that were sent before, with their digest. */
  readonly #pages = new WeakMap<Outcome, Outcome>();

  constructor({ registry, shared, log }: DigestParts) {
    this.#registry = registry;
    this.#stored = new StoredCatalogs(shared, log);
  }

  /** Answers a call: a list with its digest, all other calls after a check of the digests that the caller knows. */
  async answer(call: Call, next: Dispatch): Promise<Outcome> {
    const { method, peer } = call;
    if (!modernRevisions.some((revision) => revision === peer.revision)) return next(call);
    if (Object.hasOwn(fields, method)) return this.#list(call, method as ListMethod, next);
    const list = digestLists.get(method);
    const known = list && knownDigests(call);
    return known === undefined ? next(call) : this.#check(call, { list: list as ListMethod, known }, next);
  }

  async #list(call: Call, method: ListMethod, next: Dispatch): Promise<Outcome> {
    const page = await next(call);
    const earlier = this.#pages.get(page);
    const entries = await this.#entries(method, call);
    // Middleware may have changed the list. The digest would describe another one.
    if (!this.#isPageOf(entries, page[fields[method]], call.params['cursor'] === undefined)) return page;
    const snapshot = await this.#snapshots.of(entries);
    if (!(await this.#stored.keep(snapshot))) return page;
    if (earlier !== undefined) return earlier;
    const withDigest = { ...page, digest: snapshot.digest };
    if (!Object.isFrozen(page)) return withDigest;
    this.#pages.set(page, withPrint(withDigest));
    return withDigest;
  }

  #entries(method: ListMethod, call: Call): readonly Listed[] | Promise<readonly Listed[]> {
    const { listedTools, prompts } = this.#registry;
    return (method === 'tools/list' ? listedTools : prompts).entries(call);
  }

  #isPageOf(entries: readonly Listed[], items: unknown, isFirst: boolean): boolean {
    if (!Array.isArray(items)) return false;
    const from = isFirst ? 0 : entries.findIndex(({ listed }) => listed === items[0]);
    const expected = entries.slice(from, from + this.#registry.pageSize);
    return (
      from >= 0 &&
      expected.length === items.length &&
      expected.every(({ listed }, at) => listed === items[at])
    );
  }

  async #check(
    call: Call,
    { list, known }: { readonly list: ListMethod; readonly known: JsonObject },
    next: Dispatch,
  ): Promise<Outcome> {
    const stale: ListMethod[] = [];
    let current: Snapshot | undefined;
    for (const method of Object.keys(fields) as ListMethod[]) {
      if (typeof known[method] !== 'string') continue;
      const snapshot = await this.#snapshots.of(await this.#entries(method, call));
      if (method === list) current = snapshot;
      if (snapshot.digest !== known[method]) stale.push(method);
    }
    if (stale.length === 0) return next(call);
    const honoured =
      current !== undefined && stale.includes(list)
        ? await this.#honoured(call, current, known[list] as string)
        : call;
    if (honoured === undefined) throw staleError(stale);
    const outcome = await next(honoured);
    const { _meta } = outcome;
    return { ...outcome, _meta: { ...(isObject(_meta) && _meta), [STALE_DIGESTS]: stale } };
  }

  /** The call with the definition that the caller knows; undefined if the server does not have that definition. */
  async #honoured(call: Call, current: Snapshot, known: string): Promise<Call | undefined> {
    const old = await this.#stored.find(known);
    const name = String(call.params['name']);
    const definition = old?.get(name);
    if (old === undefined) return undefined;
    // The caller does not know the name from this list, or the definition is the same in both.
    if (definition === undefined || definition === current.definitions.get(name)) return call;
    const versions = call.method === 'tools/call' ? this.#registry.tools.get(name)?.versions : undefined;
    if (versions === undefined || versions.isByCaller) return undefined;
    for (const [at, { listed }] of versions.all.entries())
      if ((await this.#snapshots.definition(listed)) === definition)
        return copyCall(call, { pinned: { of: versions.choose, at } });
    return undefined;
  }
}

// The draft: hints that are not valid do not cause a rejection.
function knownDigests({ params: { _meta } }: Call): JsonObject | undefined {
  const known = isObject(_meta) ? _meta[KNOWN_DIGESTS] : undefined;
  return isObject(known) ? known : undefined;
}

// The draft has no number for this error yet. Clients recognize it by its data.
function staleError(staleDigests: readonly ListMethod[]): McpError {
  return new McpError(
    'invalid_params',
    `The definitions have changed since the client listed them, and nothing was run. Request ${staleDigests.join(' and ')} again, then decide whether to repeat the call.`,
    { data: { staleDigests } },
  );
}
