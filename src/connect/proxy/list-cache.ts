import { BoundedMap } from '../../async/bounded-map.js';
import type { JsonObject } from '../../jsonrpc/message.js';
import type { Call, Outcome } from '../../protocol/call.js';
import { isMarkedRemoved } from '../../protocol/removed-tools.js';
import { staleMethods } from '../../protocol/tables/methods.js';
import type { ForwardedIdentity } from './options.js';
import type { ProxyLink } from './proxy-link.js';

// The lists of a server that its proxy keeps. A server of today says for how long, and for whom. An older one says when a list has changed.

interface Kept {
  readonly outcome: Outcome;
  readonly expiresAt: number;
}

/** A list may be kept for an hour at most, whatever the server says. */
const MAX_TTL_MS = 3_600_000;
const MAX_KEPT = 1000;
/** The parameters and capabilities of callers are part of the keys. Lists with longer keys are not kept. */
const MAX_KEY_LENGTH = 8192;
/** Over plain HTTP, notifications of an older server arrive on a stream that may be away. */
const UNSURE: ReadonlySet<string> = new Set(['http']);

const kinds: Readonly<Record<string, 'tools' | 'prompts' | 'resources'>> = {
  'tools/list': 'tools',
  'prompts/list': 'prompts',
  'resources/list': 'resources',
  'resources/templates/list': 'resources',
};

/** Keeps lists for as long as the server allows. */
export class ListCache {
  readonly #kept = new BoundedMap<string, Kept>(MAX_KEPT);
  #generation = 0;
  readonly #ofLinks = new WeakMap<ProxyLink, Map<string, Outcome>>();

  /** Whether results of a method are lists. */
  isList(method: string): boolean {
    return Object.hasOwn(kinds, method);
  }

  /** A list that may be used for a call, with the time that is left to it. */
  find(call: Call, identity: ForwardedIdentity | undefined): Outcome | undefined {
    for (const key of [keyOf(call), keyOf(call, whoOf(call, identity))]) {
      const kept = this.#kept.get(key);
      if (kept === undefined) continue;
      const ttlMs = Math.floor(kept.expiresAt - performance.now());
      if (ttlMs > 0) return { ...kept.outcome, ttlMs };
      this.#kept.delete(key);
    }
    return undefined;
  }

  /** Returns the function that keeps the list that a server of today sends now. */
  keeper(call: Call, identity: ForwardedIdentity | undefined): (outcome: Outcome) => void {
    const generation = this.#generation;
    return (outcome) => {
      // A list that was on its way while it changed may be an old one.
      if (generation === this.#generation) this.#keep(call, identity, outcome);
    };
  }

  #keep(call: Call, identity: ForwardedIdentity | undefined, outcome: Outcome): void {
    const { ttlMs, cacheScope, resultType } = outcome;
    if (resultType !== 'complete' || typeof ttlMs !== 'number' || !(ttlMs > 0)) return;
    const key = keyOf(call, cacheScope === 'public' ? undefined : whoOf(call, identity));
    if (key.length > MAX_KEY_LENGTH) return;
    this.#kept.set(key, { outcome, expiresAt: performance.now() + Math.min(ttlMs, MAX_TTL_MS) });
  }

  /** The lists of one connection to an older server that announces changes; undefined if it does not. */
  ofLink(link: ProxyLink, { method, params }: Call): LinkList | undefined {
    const kind = kinds[method];
    if (kind === undefined || UNSURE.has(link.transport) || isMarkedRemoved(params)) return undefined;
    if (link.discovered.capabilities[kind]?.listChanged !== true) return undefined;
    const lists = this.#ofLinks.get(link) ?? new Map<string, Outcome>();
    this.#ofLinks.set(link, lists);
    const key = `${method} ${JSON.stringify(params['cursor'] ?? '')}`;
    if (key.length > MAX_KEY_LENGTH) return undefined;
    return {
      outcome: lists.get(key),
      keep: (outcome) => {
        if (lists.size < MAX_KEPT && outcome.resultType === 'complete') lists.set(key, outcome);
      },
    };
  }

  /** Forgets the lists that a notification is about. */
  onNotification(method: string, link?: ProxyLink): void {
    const stale = staleMethods(method).filter((each) => Object.hasOwn(kinds, each));
    if (stale.length === 0) return;
    this.#generation++;
    for (const key of this.#kept.keys())
      if (stale.some((each) => key.startsWith(`${each} `))) this.#kept.delete(key);
    // With the map, a list that is on its way is forgotten as well: it may be of before the change.
    if (link !== undefined) this.#ofLinks.delete(link);
  }
}

export interface LinkList {
  readonly outcome: Outcome | undefined;
  readonly keep: (outcome: Outcome) => void;
}

function keyOf({ method, params }: Call, who = ''): string {
  const { _meta, ...rest } = params;
  const more = isMarkedRemoved(params) ? ' removed' : '';
  return `${method} ${JSON.stringify(rest as JsonObject)}${more} ${who}`;
}

/** The server may show different lists to callers with other credentials or other capabilities. */
function whoOf({ peer }: Call, identity: ForwardedIdentity | undefined): string {
  return JSON.stringify([identity?.key ?? '', peer.capabilities, peer.client?.name ?? '']);
}
