import { BoundedMap } from '../../async/bounded-map.js';
import { backoff } from '../../async/delay.js';
import { every } from '../../async/every.js';
import type { Call } from '../../protocol/call.js';
import { principalOf } from '../../protocol/caller.js';
import { McpError } from '../../protocol/errors.js';
import type { OpenLink } from '../../protocol/link.js';
import type { Discovered } from '../../protocol/model/model.js';
import type { Revision } from '../../protocol/tables/revisions.js';
import { callerTag, hasSessionAlone, THIS_PROGRAM, UNKNOWN_CALLER } from './caller-tags.js';
import { fairShare, shareNameOf } from './fair-share.js';
import type { ForwardedIdentity } from './options.js';
import { ProxyLink } from './proxy-link.js';

// The connections of a proxy to its server.

export interface ProxyLinksParts {
  /** The way to open a connection as somebody. */
  readonly openAs: (identity: ForwardedIdentity | undefined) => OpenLink;
  readonly connectTimeoutMs: number;
  readonly maxConnections: number;
  readonly idleMs: number;
  readonly problem: (message: string, cause?: unknown) => void;
  /** Called when the first connection is open, when one cannot be opened, and when the last one was lost or closed. */
  readonly onState?: ((state: LinksState) => void) | undefined;
  /** Called with notifications that do not belong to a call. */
  readonly onNotification?: ((method: string, link: ProxyLink) => void) | undefined;
}

/** The state of the server of a proxy. `idle`: no connection is open, because none is needed. */
export type LinksState =
  | { readonly status: 'ready'; readonly discovered: Discovered; readonly revision: Revision }
  | { readonly status: 'failed'; readonly error: McpError }
  | { readonly status: 'idle' };

/** A connection that a call uses. */
export interface UsedLink {
  readonly link: ProxyLink;
  /** The name of the caller; undefined if nobody else is known to be the same. */
  readonly owner: string | undefined;
  /** The name of the connection, if only this caller uses it while the call is open. */
  readonly alone: string | undefined;
  /** Called once, when the call has ended. A server may still ask about a call that was left, and send its log messages. */
  readonly done: (wasLeft: boolean) => void;
}

/** The caller of a call, as connections know it. */
interface CallOwner {
  /** The name of the caller; undefined if nobody else is known to be the same. */
  readonly owner: string | undefined;
  /** Those who may use the same connections one after the other: the caller, or all callers of one program that have no name. */
  readonly group: string;
}

interface Failure {
  readonly error: McpError;
  readonly count: number;
  readonly retryAt: number;
}

const RETRY = { baseMs: 250, maxMs: 15_000 };
const MAX_FAILURES = 1000;

/** Opens connections when calls need them, shares those that may be shared, and closes those that nobody uses. */
export class ProxyLinks {
  readonly #parts: ProxyLinksParts;
  /** The connections that calls share, by key. */
  readonly #shared = new Map<string, ProxyLink>();
  /** The connections that one call has at a time, by key, while no call has them. */
  readonly #free = new Map<string, ProxyLink[]>();
  /** With the name that the share of its caller is counted under. */
  readonly #all = new Map<ProxyLink, string | undefined>();
  /** Those that are open. The others are being opened. */
  readonly #open = new Set<ProxyLink>();
  readonly #failures = new BoundedMap<string, Failure>(MAX_FAILURES);
  readonly #sessions = new WeakMap<object, string>();
  #lastSession = 0;
  #isSessionEra = false;
  #isClosed = false;
  #stopTimer: (() => void) | undefined;

  constructor(parts: ProxyLinksParts) {
    this.#parts = parts;
  }

  /** The connection for a call. Rejects if the server cannot be reached, at once if that was just tried. */
  async take(call: Call, identity: ForwardedIdentity | undefined): Promise<UsedLink> {
    const key = identity?.key ?? '';
    const { owner, group } = this.#ownerOf(call);
    if (!this.#isSessionEra) {
      const link = await this.#sharedAt(key, call, identity);
      if (link.isModern) return this.#use(link, { owner, alone: undefined });
      this.#isSessionEra = true;
      // It was opened with the capabilities of whoever came first.
      this.#discard(link);
    }
    const ownKey = JSON.stringify([key, group, call.peer.capabilities]);
    if (owner !== undefined || !canBeAsked(call)) {
      const link = await this.#sharedAt(ownKey, call, identity);
      // The server may have been replaced by a newer one.
      this.#isSessionEra = !link.isModern;
      return this.#use(link, { owner, alone: owner === undefined ? undefined : aloneOn(link) });
    }
    const free = this.#free.get(ownKey)?.pop();
    if (free !== undefined) {
      free.users++;
      // Another caller may have opened it, whose share it is not any more.
      this.#all.set(free, shareNameOf(call));
    }
    const link = free ?? (await this.#openAt(ownKey, call, identity));
    return this.#use(link, { owner, alone: aloneOn(link) }, (wasLeft) => {
      if (!this.#all.has(link)) return;
      // The next caller must not be asked about that call.
      if (wasLeft) return this.#discard(link);
      const free = this.#free.get(ownKey) ?? [];
      free.push(link);
      this.#free.set(ownKey, free);
    });
  }

  /**
   * Asks the server over every connection whether it is there. One that does not answer within `ms` is closed if no call uses it: the next
   * call opens another one. Returns how many did not answer.
   */
  async check(ms: number): Promise<number> {
    const links = [...this.#open];
    const answered = await Promise.all(links.map((link) => link.answersWithin(ms)));
    const silent = links.filter((link, at) => !answered[at] && this.#all.has(link));
    for (const link of silent) if (link.users === 0) this.#discard(link);
    return silent.length;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopTimer?.();
    await Promise.all([...this.#all.keys()].map((link) => link.close()));
  }

  #use(
    link: ProxyLink,
    user: Pick<UsedLink, 'owner' | 'alone'>,
    then?: (wasLeft: boolean) => void,
  ): UsedLink {
    let isDone = false;
    const done = (wasLeft: boolean): void => {
      if (isDone) return;
      isDone = true;
      link.users--;
      link.usedAt = performance.now();
      then?.(wasLeft);
    };
    return { link, ...user, done };
  }

  async #sharedAt(key: string, call: Call, identity: ForwardedIdentity | undefined): Promise<ProxyLink> {
    const known = this.#shared.get(key);
    if (known !== undefined) return this.#reserved(known, known.ready);
    const opening = this.#make(key, call, identity);
    this.#shared.set(key, opening);
    return this.#reserved(opening, this.#whenReady(key, opening));
  }

  async #openAt(key: string, call: Call, identity: ForwardedIdentity | undefined): Promise<ProxyLink> {
    const opening = this.#make(key, call, identity);
    return this.#reserved(opening, this.#whenReady(key, opening));
  }

  /** Counts as a user from now on, so that the connection is not closed to make room while it is being opened. */
  async #reserved(link: ProxyLink, ready: Promise<unknown>): Promise<ProxyLink> {
    link.users++;
    try {
      await ready;
      return link;
    } catch (error) {
      link.users--;
      throw error;
    }
  }

  #make(key: string, call: Call, identity: ForwardedIdentity | undefined): ProxyLink {
    if (this.#isClosed) throw new McpError('connection_closed', 'The proxy is closed.');
    const failure = this.#failures.get(key);
    if (failure !== undefined && performance.now() < failure.retryAt) throw failure.error;
    const share = shareNameOf(call);
    this.#makeRoom(share);
    const { openAs, connectTimeoutMs, problem, onNotification } = this.#parts;
    const link = new ProxyLink({
      ...{ connectTimeoutMs, problem, open: openAs(identity), peer: call.peer },
      onLost: (lost, reason) => this.#onLost(lost, reason),
      onNotification,
    });
    this.#all.set(link, share);
    this.#stopTimer ??= this.#startTimer();
    return link;
  }

  async #whenReady(key: string, link: ProxyLink): Promise<void> {
    try {
      await link.ready;
      this.#failures.delete(key);
      this.#open.add(link);
      const { discovered, revision } = link;
      this.#parts.onState?.({ status: 'ready', discovered, revision });
    } catch (error) {
      this.#forget(link);
      const count = (this.#failures.get(key)?.count ?? 0) + 1;
      const retryAt = performance.now() + backoff(count - 1, RETRY);
      this.#failures.set(key, { error: error as McpError, count, retryAt });
      if (this.#open.size === 0) this.#parts.onState?.({ status: 'failed', error: error as McpError });
      throw error;
    }
  }

  #onLost(link: ProxyLink, error: McpError | undefined): void {
    // Those that were closed here are forgotten already.
    const wasOpen = this.#open.has(link);
    this.#forget(link);
    if (wasOpen && error !== undefined && this.#open.size === 0)
      this.#parts.onState?.({ status: 'failed', error });
  }

  #discard(link: ProxyLink): void {
    this.#forget(link);
    if (this.#open.size === 0) this.#parts.onState?.({ status: 'idle' });
    void link.close();
  }

  #forget(link: ProxyLink): void {
    this.#all.delete(link);
    this.#open.delete(link);
    for (const [key, shared] of this.#shared) if (shared === link) this.#shared.delete(key);
    for (const [key, free] of this.#free) {
      const left = free.filter((one) => one !== link);
      if (left.length > 0) this.#free.set(key, left);
      else this.#free.delete(key);
    }
    if (this.#all.size > 0) return;
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }

  /** Closes a connection that is not used if there are too many, those of the same caller first. Throws if all are used. */
  #makeRoom(share: string | undefined): void {
    const { maxConnections: max } = this.#parts;
    const all = [...this.#all];
    const own = all.filter(([, name]) => name === share).map(([link]) => link);
    const limit = share === undefined ? Number.POSITIVE_INFINITY : fairShare(max, all.length - own.length);
    if (own.length >= limit) {
      const idle = longestIdle(own);
      if (idle === undefined) throw ownConnectionsUsed(limit);
      return this.#discard(idle);
    }
    if (all.length < max) return;
    const idle = longestIdle(own) ?? longestIdle(all.map(([link]) => link));
    if (idle === undefined)
      throw new McpError('overloaded', 'The proxy has too many connections to its server. Retry later.');
    this.#discard(idle);
  }

  #startTimer(): () => void {
    const { idleMs } = this.#parts;
    return every(Math.max(10, Math.min(30_000, idleMs / 2)), () => {
      const before = performance.now() - idleMs;
      for (const link of this.#all.keys()) {
        if (link.users === 0 && link.usedAt <= before) this.#discard(link);
      }
    });
  }

  // A connection of the session era belongs to one caller: questions and log messages on it do not say whose they are.
  #ownerOf(call: Call): CallOwner {
    const { auth, via, isLocal } = call;
    if (auth !== undefined) return amongCallers(`caller ${principalOf({ auth })}`, call);
    if (via === undefined || isLocal) return amongCallers(THIS_PROGRAM, call);
    if (via.session === undefined) return { owner: undefined, group: '' };
    const known = this.#sessions.get(via.session) ?? `session ${++this.#lastSession}`;
    this.#sessions.set(via.session, known);
    return hasSessionAlone(call) ? { owner: known, group: known } : amongCallers(known, call);
  }
}

// The caller may be a proxy with callers of its own. It chooses their tags, so that no tag may make its name that of another caller.
function amongCallers(name: string, call: Call): CallOwner {
  const tag = callerTag(call);
  const group = tag === '' ? name : JSON.stringify([name, tag]);
  return { owner: tag === UNKNOWN_CALLER ? undefined : group, group };
}

// A server of today sees no connections, only calls.
function aloneOn(link: ProxyLink): string | undefined {
  return link.isModern ? undefined : `connection ${link.number}`;
}

function longestIdle(links: readonly ProxyLink[]): ProxyLink | undefined {
  return links.filter(({ users }) => users === 0).sort((one, other) => one.usedAt - other.usedAt)[0];
}

function ownConnectionsUsed(limit: number): McpError {
  return new McpError(
    'overloaded',
    `The caller has too many connections to the server behind this one: ${limit} are in use, and the others are for other callers. Each set of client capabilities needs one, and so does each open call of an anonymous caller. Retry when a call has ended, and declare the same capabilities with all of them.`,
  );
}

function canBeAsked({ peer: { capabilities } }: Call): boolean {
  const { elicitation, sampling, roots } = capabilities;
  return elicitation !== undefined || sampling !== undefined || roots !== undefined;
}
