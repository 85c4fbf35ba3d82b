// Serves `subscriptions/listen`.

import { hasEnded, onEnd } from '../../async/lifetime.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Call, Outcome } from '../../protocol/call.js';
import { McpError } from '../../protocol/errors.js';
import { SUBSCRIPTION_ID } from '../../protocol/meta.js';
import type { SubscriptionFilter } from '../../protocol/model/model.js';
import { ACKNOWLEDGED, grant, isEmpty, reportAllChanged } from '../../protocol/model/subscriptions.js';
import { MAX_SUBSCRIBED, MAX_SUBSCRIBED_LENGTH, MAX_URI_LENGTH } from '../../protocol/tables/limits.js';
import { begin, subscriptionEvents } from '../../protocol/telemetry/tracing.js';
import type { Topic, TopicListener } from '../../state/topic.js';
import { isTrusted } from '../access/gate.js';
import type { Complete } from '../results/results.js';
import {
  type Announcement,
  type ChangeMessage,
  isRecipient,
  type TaskAnnouncement,
} from '../state/changes.js';
import type { Logger } from '../state/log.js';
import type { Entrance } from './entrance.js';
import type { Reading } from './reading.js';
import type { TaskHost } from './task-host.js';
import type { Watching } from './watching.js';

/** The parts of the server that subscriptions need. */
export interface ListenOptions {
  readonly changes: Topic<ChangeMessage>;
  readonly taskChanges: Topic<TaskAnnouncement>;
  readonly complete: Complete;
  /** Whether this server announces changes of a kind. */
  readonly publishes: (kind: Announcement['kind']) => boolean;
  readonly entrance: Entrance;
  readonly tasks: TaskHost | undefined;
  readonly watching: Watching;
  readonly reading: Reading;
  readonly log: Logger;
}

const UPDATED = 'notifications/resources/updated';

/** Makes the handler of `subscriptions/listen`. It acknowledges the subscription, then forwards changes until the call ends. */
export function listen(options: ListenOptions): (call: Call) => Outcome | Promise<Outcome> {
  const { tasks, publishes, entrance } = options;
  return function listen(call) {
    const requested = readFilter(call.params);
    const granted = grant(requested, publishes);
    const taskIds = tasks && requested.taskIds?.length ? requested.taskIds : undefined;
    const uris = entrance.guardsResources ? granted.resourceSubscriptions : undefined;
    if (taskIds === undefined && uris === undefined) return follow(call, granted, options);
    return narrow(call, granted, { taskIds, uris }).then(() => follow(call, granted, options));
  };

  /** Leaves only the tasks and resources that the caller may follow. */
  async function narrow(
    call: Call,
    granted: SubscriptionFilter,
    {
      taskIds,
      uris,
    }: { readonly taskIds: readonly string[] | undefined; readonly uris: readonly string[] | undefined },
  ): Promise<void> {
    const watchable = taskIds && (await tasks?.filterWatchable(call, taskIds));
    if (watchable?.length) granted.taskIds = watchable;
    if (uris === undefined) return;
    delete granted.resourceSubscriptions;
    const allowed = await entrance.subscribable(call, uris, { isOnly: isEmpty(granted) });
    if (allowed.length > 0) granted.resourceSubscriptions = allowed;
  }
}

// Not an async function: thousands of subscriptions may be open for hours, and the state of a waiting async function would be a
// tenth of the memory of each.
function follow(call: Call, granted: SubscriptionFilter, options: ListenOptions): Outcome | Promise<Outcome> {
  const { changes, taskChanges, reading } = options;
  // Other processes are heard before the acknowledgement, so that no change after it is missed.
  const connecting = changes.ready();
  const connectingTasks = granted.taskIds && taskChanges.ready();
  const loading = granted.resourceSubscriptions && reading.ready(call, granted.resourceSubscriptions);
  if ((connecting ?? connectingTasks ?? loading) === undefined) return forward(call, granted, options);
  return Promise.all([connecting, connectingTasks, loading]).then(() => forward(call, granted, options));
}

function forward(
  call: Call,
  granted: SubscriptionFilter,
  options: ListenOptions,
): Outcome | Promise<Outcome> {
  const { complete } = options;
  const tag = { [SUBSCRIPTION_ID]: call.id };
  // The acknowledgement must be the first notification, so it is sent before the subscription.
  call.notify(ACKNOWLEDGED, { notifications: { ...granted }, _meta: tag });
  if (isEmpty(granted) || hasEnded(call)) return complete({}, tag);
  const forwarder = new Forwarder(call, { granted, tag, options });
  const finish = begin(subscriptionEvents, () => ({ call, granted }));
  const unwatch = options.watching.watch(call, granted.resourceSubscriptions);
  return new Promise((resolve) => {
    onEnd(call, () => {
      forwarder.close();
      unwatch?.();
      finish?.();
      resolve(complete({}, tag));
    });
  });
}

interface ForwarderParts {
  readonly granted: SubscriptionFilter;
  readonly tag: JsonObject;
  readonly options: ListenOptions;
}

/** Forwards changes to one subscription. */
class Forwarder implements TopicListener<ChangeMessage | TaskAnnouncement> {
  readonly #call: Call;
  readonly #parts: ForwarderParts;
  readonly #uris: ReadonlySet<string> | undefined;
  readonly #taskIds: ReadonlySet<string> | undefined;
  /** The resources that are being read, to find out whether the caller may know of their changes. */
  #checked: Map<string, 'now' | 'again'> | undefined;

  constructor(call: Call, parts: ForwarderParts) {
    this.#call = call;
    this.#parts = parts;
    const { granted, options } = parts;
    this.#uris = granted.resourceSubscriptions && new Set(granted.resourceSubscriptions);
    this.#taskIds = granted.taskIds && new Set(granted.taskIds);
    options.changes.subscribe(this);
    if (granted.taskIds) options.taskChanges.subscribe(this);
  }

  message(message: ChangeMessage | TaskAnnouncement): void {
    if ('id' in message) {
      if (this.#taskIds?.has(message.id)) this.#reportTask(message.id);
    } else if (message.kind !== 'addressed') {
      this.#report(message);
    } else if (isTrusted(this.#call) || isRecipient(this.#call.auth, message.to)) {
      this.#report(message.change, { isAddressed: true });
    }
  }

  #report(change: Announcement, { isAddressed = false } = {}): void {
    const { granted, options } = this.#parts;
    const { entrance } = options;
    if (change.kind === 'resource') {
      if (this.#uris?.has(change.uri)) this.#reportUpdate(change.uri, isAddressed);
    } else if (granted[`${change.kind}ListChanged`]) {
      const { kind, name } = change;
      const sees = name === undefined || entrance.seesChange(this.#call, kind, name);
      this.#ifAllowed(sees, `notifications/${kind}/list_changed`);
    }
  }

  #reportUpdate(uri: string, isAddressed: boolean): void {
    const { entrance, reading } = this.#parts.options;
    if (isAddressed || !reading.mayDiffer(this.#call, uri)) {
      this.#ifAllowed(entrance.mayFollow(this.#call, uri), UPDATED, { uri });
    } else if (this.#checked?.has(uri)) {
      this.#checked.set(uri, 'again');
    } else {
      void this.#reportIfReadable(uri);
    }
  }

  // Changes while the resource is read are one more change after it.
  async #reportIfReadable(uri: string): Promise<void> {
    const { entrance, reading } = this.#parts.options;
    this.#checked ??= new Map();
    do {
      this.#checked.set(uri, 'now');
      const isReadable =
        (await entrance.mayFollow(this.#call, uri)) && (await reading.canRead(this.#call, uri));
      if (isReadable) this.#ifAllowed(true, UPDATED, { uri });
    } while (this.#checked.get(uri) === 'again' && !hasEnded(this.#call));
    this.#checked.delete(uri);
  }

  #ifAllowed(isAllowed: boolean | Promise<boolean>, method: string, params?: JsonObject): void {
    if (isAllowed instanceof Promise) {
      void isAllowed.then((sees) => this.#ifAllowed(sees, method, params));
    } else if (isAllowed) {
      this.#call.notify(method, { ...params, _meta: this.#parts.tag });
    }
  }

  // Changes in other processes may have been missed, so everything is reported as changed.
  gap(): void {
    const { granted, tag } = this.#parts;
    reportAllChanged(granted, (method, params) => this.#call.notify(method, { ...params, _meta: tag }));
    for (const id of granted.taskIds ?? []) this.#reportTask(id);
  }

  close(): void {
    const { changes, taskChanges } = this.#parts.options;
    changes.unsubscribe(this);
    taskChanges.unsubscribe(this);
  }

  #reportTask(id: string): void {
    const { tag, options } = this.#parts;
    options.tasks?.details(this.#call, id).then(
      (task) => task && this.#call.notify('notifications/tasks', withTag(task, tag)),
      // No call waits for this, and the client polls the task anyway.
      (error) => options.log('error', `Task ${id} could not be read for a client that watches it`, error),
    );
  }
}

/** The task with its own `_meta` beside the subscription's. */
function withTag(task: JsonObject, tag: JsonObject): JsonObject {
  return { ...task, _meta: isObject(task['_meta']) ? { ...task['_meta'], ...tag } : tag };
}

function readFilter(params: JsonObject): SubscriptionFilter {
  const filter = params['notifications'];
  if (!isObject(filter)) throw new McpError('invalid_params', 'params.notifications must be an object');
  for (const field of ['resourceSubscriptions', 'taskIds']) checkList(field, filter[field]);
  return filter as SubscriptionFilter;
}

function checkList(field: string, list: unknown): void {
  if (list === undefined) return;
  const name = `params.notifications.${field}`;
  if (!Array.isArray(list)) throw new McpError('invalid_params', `${name} must be an array of strings`);
  if (list.length > MAX_SUBSCRIBED)
    throw new McpError('invalid_params', `${name} may have at most ${MAX_SUBSCRIBED} entries`);
  let length = 0;
  for (const item of list) {
    if (typeof item !== 'string') throw new McpError('invalid_params', `${name} must be an array of strings`);
    if (item.length > MAX_URI_LENGTH)
      throw new McpError(
        'invalid_params',
        `An entry of ${name} may have at most ${MAX_URI_LENGTH} characters`,
      );
    length += item.length;
  }
  if (length > MAX_SUBSCRIBED_LENGTH)
    throw new McpError(
      'invalid_params',
      `The entries of ${name} may have at most ${MAX_SUBSCRIBED_LENGTH} characters together`,
    );
}
