// The servers of a gateway, which can be added, replaced and removed while calls are open.

import type { Call } from '../../protocol/call.js';
import { canonical } from '../../protocol/canonical.js';
import { McpError } from '../../protocol/errors.js';
import { changingLists } from '../../protocol/model/subscriptions.js';
import { checkConfig, ignoredField, ignoredFields } from '../config/check.js';
import type { Listener, Router } from '../routing/router.js';
import type { McpConfig, ServerEntry } from '../targets/target.js';
import type { GatewayMember } from './gateway-member.js';

export interface GatewayServersParts {
  readonly open: (name: string, entry: ServerEntry, onReady: MemberReady) => GatewayMember;
  readonly drainMs: number;
  readonly problem: (message: string, cause?: unknown) => void;
}

type MemberReady = (member: GatewayMember, wasMissed: boolean) => void;

/** The result of reading the config once more: names of servers. */
export interface Reloaded {
  /** The servers that are new. */
  readonly added: readonly string[];
  /** The servers that the config does not have any more. */
  readonly removed: readonly string[];
  /** The servers that were closed and opened anew, because their entry is another one. */
  readonly changed: readonly string[];
  /** The servers that were not touched. */
  readonly kept: readonly string[];
}

const MAX_REPORTED = 1000;

/** The servers of a gateway, in the order of the config. */
export class GatewayServers implements Router {
  members: ReadonlyMap<string, GatewayMember> = new Map();
  readonly listeners: Set<Listener> = new Set();
  readonly #parts: GatewayServersParts;
  readonly #ended = new AbortController();
  readonly #reported = new Set<string>();
  readonly #closing = new Map<GatewayMember, Promise<void>>();
  #entries = new Map<string, ServerEntry>();

  constructor(parts: GatewayServersParts) {
    this.#parts = parts;
  }

  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  /** Takes the servers of a config. Those whose entry is the same are not touched. Throws if the config has mistakes, and changes nothing. */
  apply(config: McpConfig): Reloaded {
    if (this.ended.aborted) throw this.ended.reason;
    const wanted = Object.entries(checkConfig(config).mcpServers).filter(([, { disabled }]) => !disabled);
    const kept = new Set(wanted.filter(([name, entry]) => this.#isSame(name, entry)).map(([name]) => name));
    // All are made before any is closed: an entry without a valid target throws.
    const made = new Map(
      wanted
        .filter(([name]) => !kept.has(name))
        .map(([name, entry]) => [
          name,
          this.#parts.open(name, entry, (member, wasMissed) => this.#onReady(member, wasMissed)),
        ]),
    );
    for (const [name, entry] of wanted)
      if (!kept.has(name))
        for (const field of ignoredFields(entry)) this.#parts.problem(ignoredField(name, field));
    const before = this.members;
    const next = wanted.map(([name]) => [name, made.get(name) ?? before.get(name)] as const);
    this.members = new Map(next as [string, GatewayMember][]);
    this.#entries = new Map(wanted);
    const gone = [...before].filter(([name, member]) => this.members.get(name) !== member);
    for (const [, member] of gone) this.#close(member);
    const changed = [...made.keys()].filter((name) => before.has(name));
    const added = [...made.keys()].filter((name) => !before.has(name));
    const removed = [...before.keys()].filter((name) => !this.members.has(name));
    if (added.length + removed.length + changed.length > 0) this.#announce();
    return { added, removed, changed, kept: [...kept] };
  }

  /** The server that had a name before and still waits for the answers of a call. */
  elder(name: string, call: Call): GatewayMember | undefined {
    for (const member of this.#closing.keys()) if (member.name === name && member.awaits(call)) return member;
    return undefined;
  }

  unrouted(method: string): McpError {
    return new McpError('method_not_found', `${method} is for one server, but this gateway has several.`);
  }

  problem(message: string, cause?: unknown): void {
    this.#parts.problem(message, cause);
  }

  problemOnce(message: string): void {
    if (this.#reported.has(message) || this.#reported.size >= MAX_REPORTED) return;
    this.#reported.add(message);
    this.problem(message);
  }

  async close(): Promise<void> {
    this.#ended.abort(new McpError('connection_closed', 'The gateway was closed.'));
    await Promise.all([...this.members.values()].map((member) => member.close()));
    await Promise.all(this.#closing.values());
  }

  #isSame(name: string, entry: ServerEntry): boolean {
    const known = this.#entries.get(name);
    if (known === undefined) return false;
    // A server object or a function in the entry is compared as itself.
    const isPlain = !('target' in entry) && typeof (entry as { auth?: unknown }).auth !== 'function';
    return known === entry || (isPlain && !('target' in known) && canonical(known) === canonical(entry));
  }

  #close(member: GatewayMember): void {
    for (const listener of this.listeners) listener.detach(member);
    const drained = Promise.race([
      member.close(this.#parts.drainMs),
      // Closing the gateway does not wait for the calls of servers that were removed before.
      new Promise<void>((resolve) => this.ended.addEventListener('abort', () => resolve(), { once: true })),
    ])
      .then(() => member.close())
      .catch((error) => this.problem(`${member.name}: closing failed`, error))
      .finally(() => this.#closing.delete(member));
    this.#closing.set(member, drained);
  }

  #onReady(member: GatewayMember, wasMissed: boolean): void {
    if (this.members.get(member.name) !== member) return;
    for (const listener of this.listeners) listener.attach(member);
    if (wasMissed) this.#announce();
  }

  #announce(): void {
    for (const listener of this.listeners) for (const kind of changingLists) listener.changed(kind);
  }
}
