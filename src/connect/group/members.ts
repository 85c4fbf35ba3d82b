// The members of a group, and attempts to get something from each.

import { unlessAborted } from '../../async/abort.js';
import { withDeadline } from '../../async/deadline.js';
import type { Client } from '../../client/model/client.js';
import { isObject } from '../../jsonrpc/message.js';
import { shorten } from '../../protocol/encoding/shorten.js';
import { cancelledBy, McpError, toMcpError } from '../../protocol/errors.js';
import type { LinkEvents } from '../../protocol/link.js';
import { SUBSCRIPTION_ID } from '../../protocol/meta.js';
import { changingLists } from '../../protocol/model/subscriptions.js';
import { checkServer, ignoredField, ignoredFields } from '../config/check.js';
import type { Listener, Router } from '../routing/router.js';
import type { ServerEntry } from '../targets/target.js';
import { type AttemptOptions, Member } from './member.js';

export interface MembershipParts {
  readonly events: Pick<LinkEvents, 'problem' | 'notification'>;
  readonly open: (entry: ServerEntry, signal: AbortSignal) => Promise<Client>;
  /** The longest time that a list waits for one member. */
  readonly attemptMs: number;
}

const MAX_REPORTED = 1000;

/** The members of a group, in order. Each is added, removed, and fails on its own. */
export class Membership implements Router {
  readonly members: Map<string, Member> = new Map();
  readonly listeners: Set<Listener> = new Set();
  /** The names of the servers that outcomes and errors come from. */
  readonly origins: WeakMap<object, string> = new WeakMap();
  readonly #parts: MembershipParts;
  readonly #ended = new AbortController();
  readonly #reported = new Set<string>();

  constructor(parts: MembershipParts) {
    this.#parts = parts;
  }

  /** Aborts when the group is closed. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  get(name: string): Member {
    const member = this.members.get(name);
    if (member !== undefined) return member;
    const names = [...this.members.keys()].join(', ') || 'none';
    throw new McpError(
      'invalid_params',
      `There is no server "${shorten(name, 64)}". The servers are: ${names}.`,
    );
  }

  add(name: string, entry: ServerEntry): void {
    if (this.ended.aborted) throw this.ended.reason;
    const server = checkServer(name, entry);
    if (this.members.has(name))
      throw new McpError('invalid_params', `There is already a server "${name}". Remove it first.`);
    if (server.disabled === true) return;
    for (const field of ignoredFields(server)) this.problemOnce(ignoredField(name, field));
    this.members.set(
      name,
      new Member(name, {
        open: (signal) => this.#parts.open(server, signal),
        problem: this.#parts.events.problem,
        attempt: (member, options, work) => this.attempt(member, options, work),
        origins: this.origins,
        onReady: (member, client) => this.#onReady(member, client),
        onGone: (client) => {
          for (const listener of this.listeners) listener.detach(client);
        },
      }),
    );
    this.#announce(undefined);
  }

  async remove(name: string): Promise<void> {
    const member = this.members.get(name);
    if (member === undefined) return;
    this.members.delete(name);
    this.#reported.clear();
    const closed = member.close();
    this.#announce(member);
    await closed;
  }

  async close(): Promise<void> {
    this.#ended.abort(new McpError('connection_closed', 'The client was closed'));
    await Promise.all([...this.members.values()].map((member) => member.close()));
  }

  unrouted(method: string): McpError {
    return new McpError(
      'method_not_found',
      `${method} is for one server, but this client has several. Use (await client.member(name)).request.`,
    );
  }

  /** The name of the server that an outcome, an error, or the id of a task comes from. */
  serverOf(settled: unknown): string | undefined {
    if (typeof settled === 'object' && settled !== null) return this.origins.get(settled);
    const [name = ''] = String(settled).split(':', 1);
    return this.members.has(name) ? name : undefined;
  }

  problem(message: string, cause?: unknown): void {
    this.#parts.events.problem(message, cause);
  }

  /** Reports a lasting problem once instead of with each list. */
  problemOnce(message: string): void {
    if (this.#reported.has(message) || this.#reported.size >= MAX_REPORTED) return;
    this.#reported.add(message);
    this.problem(message);
  }

  /** Runs `work` with the client of one member. Undefined if that fails or takes too long; then `unavailable` is reported. */
  async attempt<T>(
    member: Member,
    { signal, unavailable }: AttemptOptions,
    work: (client: Client, signal: AbortSignal) => Promise<T>,
  ): Promise<T | undefined> {
    if (member.isBackingOff) {
      member.wasMissed = true;
      return undefined;
    }
    const ms = this.#parts.attemptMs;
    let client: Client | undefined;
    try {
      const result = await withDeadline({ signal, ms, reason: () => timeoutError(ms) }, (own) =>
        unlessAborted(
          member.connect().then((connected) => {
            client = connected;
            return work(connected, own);
          }),
          own,
        ),
      );
      member.resetBackoff();
      return result;
    } catch (error) {
      if (signal.aborted) throw cancelledBy(error);
      member.wasMissed = true;
      const { code, message } = toMcpError(error);
      if (client !== undefined && code === 'timeout') member.backOff();
      // The member itself reports a failure to connect, but not that it is still connecting.
      if (client !== undefined) this.problem(`${member.name}: ${unavailable}: ${message}`, error);
      else if (member.state.status === 'connecting') {
        member.isLate = true;
        this.problem(`${member.name}: still connecting: ${unavailable} until it is connected`, error);
      }
      return undefined;
    }
  }

  #onReady(member: Member, client: Client): void {
    client.on('notification', ({ method, params }) => {
      // Notifications of a subscription go to its subscriber only.
      const meta = params?.['_meta'];
      if (!isObject(meta) || meta[SUBSCRIPTION_ID] === undefined)
        this.#parts.events.notification(method, params);
    });
    for (const listener of this.listeners) listener.attach(member);
    if (member.wasMissed) this.#announce(member);
    member.wasMissed = false;
  }

  /** Announces that a member was added, removed or connected late, as a change of each of its lists. */
  #announce(member: Member | undefined): void {
    const capabilities = member?.facts?.capabilities;
    for (const kind of changingLists) {
      if (capabilities !== undefined && capabilities[kind] === undefined) continue;
      for (const listener of this.listeners) listener.changed(kind);
    }
  }
}

function timeoutError(ms: number): McpError {
  return new McpError('timeout', `no response within ${ms} ms`);
}
