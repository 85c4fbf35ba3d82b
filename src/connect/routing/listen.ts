// Subscriptions to several servers: one stream over the subscriptions to each.

import { unlessAborted } from '../../async/abort.js';
import { callEnded } from '../../async/lifetime.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Call, Outcome } from '../../protocol/call.js';
import { McpError } from '../../protocol/errors.js';
import { declaringEvents } from '../../protocol/events/dialects.js';
import { SUBSCRIPTION_ID } from '../../protocol/meta.js';
import type { SubscriptionFilter } from '../../protocol/model/model.js';
import {
  ACKNOWLEDGED,
  changingLists,
  grant,
  includes,
  isEmpty,
  type ListKind,
  offersOf,
} from '../../protocol/model/subscriptions.js';
import { listsFor } from './lists.js';
import { taskIdOf, taskOf } from './names.js';
import { type FindOwners, ownersOf } from './resources.js';
import type { Listener, Routed, RoutedSubscription, Router } from './router.js';

/** Serves `subscriptions/listen`: subscribes to the members concerned, including those that connect later. */
export async function listen(router: Router, call: Call): Promise<Outcome> {
  const wanted = call.params['notifications'];
  if (!isObject(wanted)) throw new McpError('invalid_params', 'params.notifications must be an object');
  const stream = new RoutedStream(router, call, wanted as SubscriptionFilter);
  try {
    const granted = await stream.open();
    if (!isEmpty(granted))
      await unlessAborted(callEnded(call), router.ended).catch((reason) => {
        if (!call.signal.aborted) throw reason;
      });
  } finally {
    await stream.close();
  }
  return { resultType: 'complete', _meta: { [SUBSCRIPTION_ID]: call.id } };
}

/** One stream of changes, made of the subscriptions to all servers. */
class RoutedStream implements Listener {
  readonly #router: Router;
  readonly #call: Call;
  readonly #wanted: SubscriptionFilter;
  readonly #tag: JsonObject;
  readonly #tasks = new Map<Routed, string[]>();
  /** By the connection that they are made on. */
  readonly #subscriptions = new Map<object, Promise<RoutedSubscription | undefined>>();
  #owners: FindOwners = async () => [];
  /** Notifications from before the acknowledgement, each once. */
  #early: Map<string, () => void> | undefined = new Map();
  #closed = false;

  constructor(router: Router, call: Call, wanted: SubscriptionFilter) {
    this.#router = router;
    this.#call = call;
    this.#wanted = wanted;
    this.#tag = { [SUBSCRIPTION_ID]: call.id };
  }

  async open(): Promise<SubscriptionFilter> {
    const uris = this.#wanted.resourceSubscriptions ?? [];
    for (const id of this.#wanted.taskIds ?? []) this.#addTask(id);
    if (uris.length > 0) this.#owners = await ownersOf(this.#router, uris, this.#call);
    await Promise.all(
      [...this.#tasks.keys()].map((member) =>
        member.reach(this.#call, 'changes to its tasks are not reported'),
      ),
    );
    this.#router.listeners.add(this);
    const members = [...this.#router.members.values()];
    const accepted = await Promise.all(members.map((member) => this.#acceptedBy(member)));
    const granted = grant(this.#wanted, (kind) => kind !== 'resource');
    const uriSet = new Set(accepted.flatMap((part) => part.resourceSubscriptions ?? []));
    if (uriSet.size > 0) granted.resourceSubscriptions = [...uriSet];
    const tasks = accepted.flatMap((part) => part.taskIds ?? []);
    if (tasks.length > 0) granted.taskIds = tasks;
    this.#call.notify(ACKNOWLEDGED, {
      notifications: { ...granted },
      _meta: this.#tag,
    });
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const [, notify] of early) notify();
    return granted;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#router.listeners.delete(this);
    // Closing does not wait for a server that hangs: a subscription that is still being opened is closed once it is open.
    for (const opening of this.#subscriptions.values())
      void opening.then((subscription) => subscription?.close());
    this.#subscriptions.clear();
  }

  attach(member: Routed): void {
    const { connection } = member;
    if (this.#closed || connection === undefined || this.#subscriptions.has(connection)) return;
    const opening: Promise<RoutedSubscription | undefined> = this.#subscribe(member).then(
      (subscription) => {
        // Later there may be something to subscribe to.
        if (subscription === undefined) this.#forget(connection, opening);
        return subscription;
      },
      (error) => {
        this.#forget(connection, opening);
        if (!this.#closed && member.connection === connection)
          this.#router.problem(`${member.name}: its changes are not reported`, error);
        return undefined;
      },
    );
    this.#subscriptions.set(connection, opening);
  }

  async #subscribe(member: Routed): Promise<RoutedSubscription | undefined> {
    const wanted = await this.#wantedFrom(member);
    if (isEmpty(wanted) || this.#closed) return undefined;
    return member.subscribe(this.#call, wanted, (method, params) => {
      // A server must not report what it was not asked about: it may be a resource of another server, or hidden from the caller.
      if (includes(wanted, method, params)) this.#onChange(member, method, params);
    });
  }

  #forget(connection: object, opening: Promise<RoutedSubscription | undefined>): void {
    if (this.#subscriptions.get(connection) === opening) this.#subscriptions.delete(connection);
  }

  detach(connection: object): void {
    this.#subscriptions.delete(connection);
  }

  changed(kind: ListKind | 'events'): void {
    if (this.#wanted[`${kind}ListChanged`] === true)
      this.#notify(`notifications/${kind}/list_changed`, {}, kind);
  }

  /** The changes that one server reports, with the ids of tasks as the subscriber knows them. */
  async #acceptedBy(member: Routed): Promise<SubscriptionFilter> {
    this.attach(member);
    const opening = member.connection && this.#subscriptions.get(member.connection);
    if (opening === undefined) return {};
    const subscription = await member.await(this.#call, 'its changes are reported later', opening);
    const { taskIds, ...rest } = subscription?.accepted ?? {};
    return { ...rest, ...(taskIds && { taskIds: taskIds.map((id) => taskIdOf(member, id)) }) };
  }

  #addTask(id: string): void {
    const { member, taskId } = taskOf(this.#router, id);
    this.#tasks.set(member, [...(this.#tasks.get(member) ?? []), taskId]);
  }

  async #wantedFrom(member: Routed): Promise<SubscriptionFilter> {
    const all = this.#wanted.resourceSubscriptions ?? [];
    const owners = await Promise.all(all.map((uri) => this.#owners(uri)));
    const uris = all.filter((_, at) => owners[at]?.includes(member));
    const taskIds = this.#tasks.get(member);
    const wanted = { ...this.#wanted, resourceSubscriptions: uris };
    return {
      ...grant(wanted, offersOf(declaringEvents({ ...member.facts?.capabilities }))),
      ...(taskIds && { taskIds }),
    };
  }

  #onChange(member: Routed, method: string, params: JsonObject): void {
    const list = changingLists.find((kind) => method === `notifications/${kind}/list_changed`);
    if (list !== undefined) {
      for (const kind of listsFor(list)) member.forget(kind);
      this.changed(list);
    } else if (method === 'notifications/tasks') {
      const taskId = taskIdOf(member, String(params['taskId']));
      this.#notify(method, { ...params, taskId }, taskId);
    } else {
      this.#notify(method, params, String(params['uri']));
    }
  }

  #notify(method: string, params: JsonObject, subject: string): void {
    if (this.#closed) return;
    const { _meta: own } = params;
    const _meta = isObject(own) ? { ...own, ...this.#tag } : this.#tag;
    const notify = (): void => this.#call.notify(method, { ...params, _meta });
    if (this.#early === undefined) notify();
    else this.#early.set(`${method} ${subject}`, notify);
  }
}
