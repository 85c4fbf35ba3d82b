// Subscriptions of a group: one stream over the subscriptions of its members.

import { unlessAborted } from '../../async/abort.js';
import { callEnded } from '../../async/lifetime.js';
import type { Change, Client, SubscribeTo, Subscription } from '../../client/model/client.js';
import { toSubscribeTo } from '../../client/subscriptions/subscribe-to.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Call, Outcome } from '../../protocol/call.js';
import { McpError } from '../../protocol/errors.js';
import { SUBSCRIPTION_ID } from '../../protocol/meta.js';
import type { SubscriptionFilter } from '../../protocol/model/model.js';
import { ACKNOWLEDGED, grant, isEmpty, type ListKind, offersOf } from '../../protocol/model/subscriptions.js';
import type { Member } from './member.js';
import type { Listener, Membership } from './members.js';
import { ownersOf } from './resources.js';
import { taskIdOf, taskOf } from './routing.js';

/** Serves `subscriptions/listen`: subscribes to the members concerned, including those that connect later. */
export async function listen(group: Membership, call: Call): Promise<Outcome> {
  const wanted = call.params['notifications'];
  if (!isObject(wanted)) throw new McpError('invalid_params', 'params.notifications must be an object');
  const stream = new GroupStream(group, call, wanted as SubscriptionFilter);
  try {
    const granted = await stream.open();
    if (!isEmpty(granted))
      await unlessAborted(callEnded(call), group.ended).catch((reason) => {
        if (!call.signal.aborted) throw reason;
      });
  } finally {
    await stream.close();
  }
  return { resultType: 'complete', _meta: { [SUBSCRIPTION_ID]: call.id } };
}

/** One stream of changes, made of the subscriptions to the members. */
class GroupStream implements Listener {
  readonly #group: Membership;
  readonly #call: Call;
  readonly #wanted: SubscriptionFilter;
  readonly #tag: JsonObject;
  readonly #tasks = new Map<Member, string[]>();
  readonly #subscriptions = new Map<Client, Promise<Subscription | undefined>>();
  #owners: (uri: string) => readonly Member[] = () => [];
  /** Notifications from before the acknowledgement, each once. */
  #early: Map<string, () => void> | undefined = new Map();
  #closed = false;

  constructor(group: Membership, call: Call, wanted: SubscriptionFilter) {
    this.#group = group;
    this.#call = call;
    this.#wanted = wanted;
    this.#tag = { [SUBSCRIPTION_ID]: call.id };
  }

  async open(): Promise<SubscriptionFilter> {
    const { signal } = this.#call;
    const uris = this.#wanted.resourceSubscriptions ?? [];
    for (const id of this.#wanted.taskIds ?? []) this.#addTask(id);
    if (uris.length > 0) this.#owners = await ownersOf(this.#group, uris, signal);
    await Promise.all(
      [...this.#tasks.keys()].map((member) =>
        this.#group.attempt(
          member,
          { signal, unavailable: 'changes to its tasks are not reported' },
          async () => {},
        ),
      ),
    );
    this.#group.listeners.add(this);
    const members = [...this.#group.members.values()];
    const accepted = await Promise.all(
      members.map(async (member) => {
        const { client } = member;
        if (client === undefined) return undefined;
        this.attach(member, client);
        const unavailable = 'its changes are reported later';
        const subscription = await this.#group.attempt(member, { signal, unavailable }, async () =>
          this.#subscriptions.get(client),
        );
        return subscription && { member, ...subscription.accepted };
      }),
    );
    const granted = grant(this.#wanted, (kind) => kind !== 'resource');
    const uriSet = new Set(accepted.flatMap((part) => part?.uris ?? []));
    if (uriSet.size > 0) granted.resourceSubscriptions = [...uriSet];
    const tasks = accepted.flatMap((part) =>
      (part?.tasks ?? []).map((id) => taskIdOf((part as { member: Member }).member, id)),
    );
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
    this.#group.listeners.delete(this);
    // Closing does not wait for a member that hangs: a subscription that is still being opened is closed once it is open.
    for (const opening of this.#subscriptions.values())
      void opening.then((subscription) => subscription?.close());
    this.#subscriptions.clear();
  }

  attach(member: Member, client: Client): void {
    const to = this.#wantedFrom(member, client);
    if (this.#closed || Object.keys(to).length === 0 || this.#subscriptions.has(client)) return;
    const opening = client
      .subscribe(to, { onChange: (change) => this.#onChange(member, client, change) })
      .catch((error) => {
        this.#subscriptions.delete(client);
        if (!this.#closed && member.client === client)
          this.#group.problem(`${member.name}: its changes are not reported`, error);
        return undefined;
      });
    this.#subscriptions.set(client, opening);
  }

  detach(client: Client): void {
    this.#subscriptions.delete(client);
  }

  changed(kind: ListKind): void {
    if (this.#wanted[`${kind}ListChanged`] === true)
      this.#notify(`notifications/${kind}/list_changed`, {}, kind);
  }

  #addTask(id: string): void {
    const { member, taskId } = taskOf(this.#group, id);
    this.#tasks.set(member, [...(this.#tasks.get(member) ?? []), taskId]);
  }

  #wantedFrom(member: Member, { server: { capabilities } }: Client): SubscribeTo {
    const uris = (this.#wanted.resourceSubscriptions ?? []).filter((uri) =>
      this.#owners(uri).includes(member),
    );
    const tasks = this.#tasks.get(member);
    const wanted = { ...this.#wanted, resourceSubscriptions: uris };
    return { ...toSubscribeTo(grant(wanted, offersOf(capabilities))), ...(tasks && { tasks }) };
  }

  #onChange(member: Member, client: Client, change: Change): void {
    if (change.kind === 'resource') {
      this.#notify('notifications/resources/updated', { uri: change.uri }, change.uri);
    } else if (change.kind === 'task') {
      // A notification carries the task with its result or error, which a change does not have.
      void client.request('tasks/get', { taskId: change.id }).then(
        ({ resultType: _, ...task }) => {
          const taskId = taskIdOf(member, change.id);
          this.#notify('notifications/tasks', { ...task, taskId }, taskId);
        },
        (error) =>
          this.#group.problem(`${member.name}: the task ${change.id} changed but cannot be read`, error),
      );
    } else {
      member.listedKeys[change.kind] = undefined;
      if (change.kind === 'resources') member.listedKeys.templates = undefined;
      this.changed(change.kind);
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
