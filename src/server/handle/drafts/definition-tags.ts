// Tags of definitions, and calls by clients that know them. Draft "Definition Tags" of the transports working group, September 2026.

import { isObject, type JsonObject } from '../../../jsonrpc/message.js';
import { type Call, type Dispatch, type Outcome, withPrint } from '../../../protocol/call.js';
import {
  checkedCalls,
  isTagged,
  KNOWN_TAGS,
  STALE_TAGS,
  type TaggedMethod,
  taggedMethods,
} from '../../../protocol/definition-tags.js';
import { copyCall } from '../../../protocol/direct.js';
import { McpError } from '../../../protocol/errors.js';
import type { ListedTool } from '../../../protocol/model/model.js';
import { modernRevisions } from '../../../protocol/tables/features.js';
import type { SharedState } from '../../../state/cluster.js';
import type { Registry } from '../../catalog/registry.js';
import { listWithHandles } from '../../references/listing.js';
import type { Logger } from '../../state/log.js';
import { type Listed, Snapshots } from './snapshot.js';
import { StoredCatalogs } from './stored-catalogs.js';

/** The parts of a server that tags need. */
export interface DefinitionTagsParts {
  readonly registry: Registry;
  readonly shared: SharedState;
  readonly log: Logger;
}

/** The lists that have a tag, with their field. */
const fields = {
  'tools/list': 'tools',
  'prompts/list': 'prompts',
  'resources/list': 'resources',
  'resources/templates/list': 'resourceTemplates',
} as const;
type ListMethod = keyof typeof fields;

/** A longer list has no tag: it would have to be read for each check, and an entry of the store would be too large. */
const MAX_DEFINITIONS = 1000;

/** Answers the calls of one server. */
export class DefinitionTags {
  readonly #registry: Registry;
  readonly #snapshots = new Snapshots();
  readonly #stored: StoredCatalogs;
  /** The results that were sent before, with their tag. */
  readonly #sent = new WeakMap<Outcome, Outcome>();
  /** The tools of a server with handles, as clients get them. */
  readonly #withHandles = new WeakMap<readonly Listed[], readonly Listed[]>();

  constructor({ registry, shared, log }: DefinitionTagsParts) {
    this.#registry = registry;
    this.#stored = new StoredCatalogs(shared, log);
  }

  /** Answers a call: definitions with their tag, and calls that name one after a check of the tags that the caller knows. */
  async answer(call: Call, next: Dispatch): Promise<Outcome> {
    const { method, peer } = call;
    if (!modernRevisions.some((revision) => revision === peer.revision)) return next(call);
    if (isTagged(method)) {
      const outcome = await next(call);
      const tag = await (method === 'server/discover'
        ? this.#tagOfServer(outcome)
        : this.#tagOfPage(method, call, outcome));
      return tag === undefined ? outcome : this.#withTag(outcome, tag);
    }
    const known = checkedCalls.has(method) ? knownTags(call) : undefined;
    return known === undefined ? next(call) : this.#check(call, known, next);
  }

  #withTag(outcome: Outcome, tag: string): Outcome {
    const earlier = this.#sent.get(outcome);
    if (earlier !== undefined) return earlier;
    const tagged = { ...outcome, tag };
    if (!Object.isFrozen(outcome)) return tagged;
    this.#sent.set(outcome, withPrint(tagged));
    return tagged;
  }

  // Middleware may have changed what the caller gets. The tag would describe something else.
  async #tagOfServer(outcome: Outcome): Promise<string | undefined> {
    const current = await this.#snapshots.payload(this.#registry.discover());
    return (await this.#snapshots.payload(outcome)) === current ? current : undefined;
  }

  async #tagOfPage(method: ListMethod, call: Call, page: Outcome): Promise<string | undefined> {
    const entries = await this.#entries(method, call);
    const isFirst = call.params['cursor'] === undefined;
    if (entries === undefined || !this.#isPageOf(entries, page[fields[method]], isFirst)) return undefined;
    const snapshot = await this.#snapshots.of(entries);
    const isKept = !isHonoured(method) || (await this.#stored.keep(snapshot));
    return isKept ? snapshot.tag : undefined;
  }

  /** All entries that the caller sees; undefined if the list has no tag. */
  async #entries(method: ListMethod, call: Call): Promise<readonly Listed[] | undefined> {
    const { listedTools, prompts, resources, templates } = this.#registry;
    // Such a list is made anew for each page.
    if (method === 'resources/list' && this.#registry.listsPerCaller()) return undefined;
    const catalogs = {
      'tools/list': listedTools,
      'prompts/list': prompts,
      'resources/list': resources,
      'resources/templates/list': templates,
    };
    const entries = await catalogs[method].entries(call);
    if (entries.length > MAX_DEFINITIONS) return undefined;
    return method === 'tools/list' && this.#registry.hasHandles ? this.#toolsWithHandles(entries) : entries;
  }

  #toolsWithHandles(entries: readonly Listed[]): readonly Listed[] {
    const known =
      this.#withHandles.get(entries) ?? entries.map(({ listed }) => ({ listed: this.#tool(listed) }));
    this.#withHandles.set(entries, known);
    return known;
  }

  /** A tool as clients get it. */
  #tool(listed: Listed['listed']): Listed['listed'] {
    return this.#registry.hasHandles ? listWithHandles(listed as ListedTool) : listed;
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

  async #check(call: Call, known: JsonObject, next: Dispatch): Promise<Outcome> {
    const stale: TaggedMethod[] = [];
    for (const method of taggedMethods) {
      const tag = known[method];
      const current = typeof tag === 'string' ? await this.#currentTag(method, call) : undefined;
      if (current !== undefined && current !== tag) stale.push(method);
    }
    const list = checkedCalls.get(call.method);
    const served =
      list !== undefined && stale.includes(list)
        ? await this.#honoured(call, list, known[list] as string)
        : await this.#withCurrent(call, typeof known['tools/list'] === 'string');
    if (served === undefined) throw staleError(stale);
    const outcome = await next(served);
    if (stale.length === 0) return outcome;
    const { _meta } = outcome;
    return { ...outcome, _meta: { ...(isObject(_meta) && _meta), [STALE_TAGS]: stale } };
  }

  /** The call, whose caller means the current version if it knows the current list, whatever the arguments are. */
  async #withCurrent(call: Call, knowsTools: boolean): Promise<Call> {
    const { choose } = this.#registry.tools.get(String(call.params['name']))?.versions ?? {};
    if (call.method !== 'tools/call' || !knowsTools || choose === undefined) return call;
    return copyCall(call, { pinned: { of: choose, at: await choose(call) } });
  }

  async #currentTag(method: TaggedMethod, call: Call): Promise<string | undefined> {
    if (method === 'server/discover') return this.#snapshots.payload(this.#registry.discover());
    const entries = await this.#entries(method, call);
    return entries && (await this.#snapshots.of(entries)).tag;
  }

  /** The call with the definition that the caller knows; undefined if the server does not have that definition. */
  async #honoured(call: Call, list: HonouredList, known: string): Promise<Call | undefined> {
    const old = await this.#stored.find(known);
    if (old === undefined) return undefined;
    const name = String(call.params['name']);
    const definition = old.get(name);
    const entries = (await this.#entries(list, call)) ?? [];
    const current = (await this.#snapshots.of(entries)).definitions.get(name);
    // The caller does not know the name from this list, or the definition is the same in both.
    if (definition === undefined || definition === current) return call;
    const versions = call.method === 'tools/call' ? this.#registry.tools.get(name)?.versions : undefined;
    if (versions === undefined || versions.isByCaller) return undefined;
    for (const [at, { listed }] of versions.all.entries())
      if ((await this.#snapshots.definition(this.#tool(listed))) === definition)
        return copyCall(call, { pinned: { of: versions.choose, at } });
    return undefined;
  }
}

/** The lists because of which a call may be rejected, so that the older ones must be known. */
type HonouredList = 'tools/list' | 'prompts/list';

function isHonoured(method: ListMethod): method is HonouredList {
  return method === 'tools/list' || method === 'prompts/list';
}

// The draft: hints that are not valid do not cause a rejection.
function knownTags({ params: { _meta } }: Call): JsonObject | undefined {
  const known = isObject(_meta) ? _meta[KNOWN_TAGS] : undefined;
  return isObject(known) ? known : undefined;
}

// The draft has no number for this error yet. Clients recognize it by its data.
function staleError(staleTags: readonly TaggedMethod[]): McpError {
  return new McpError(
    'invalid_params',
    `The definitions have changed since the client listed them, and nothing was run. Request ${staleTags.join(' and ')} again, then decide whether to repeat the call.`,
    { data: { staleTags } },
  );
}
