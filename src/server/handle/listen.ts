// Serves `subscriptions/listen`.

import { hasEnded, onEnd } from '../../async/lifetime.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Call, Outcome } from '../../protocol/call.js';
import { McpError } from '../../protocol/errors.js';
import { SUBSCRIPTION_ID } from '../../protocol/meta.js';
import type { SubscriptionFilter } from '../../protocol/model/model.js';
import { ACKNOWLEDGED, grant, isEmpty } from '../../protocol/model/subscriptions.js';
import { MAX_SUBSCRIBED, MAX_SUBSCRIBED_LENGTH, MAX_URI_LENGTH } from '../../protocol/tables/limits.js';
import type { Complete } from '../results/results.js';
import type { Bus, BusMessage } from '../state/bus.js';
import type { Logger } from '../state/log.js';
import type { TaskHost } from './task-host.js';

/** The parts of the server that subscriptions need. */
export interface ListenOptions {
  readonly bus: Bus;
  readonly complete: Complete;
  /** Whether this server announces changes of a kind. */
  readonly publishes: (kind: BusMessage['kind']) => boolean;
  readonly tasks: TaskHost | undefined;
  readonly log: Logger;
}

/** Makes the handler of `subscriptions/listen`. It acknowledges the subscription, then forwards changes until the call ends. */
export function listen(options: ListenOptions): (call: Call) => Outcome | Promise<Outcome> {
  const { tasks, publishes } = options;
  return function listen(call) {
    const requested = readFilter(call.params);
    const granted = grant(requested, publishes);
    if (!requested.taskIds?.length || !tasks) return follow(call, granted, options);
    return tasks.filterWatchable(call, requested.taskIds).then((taskIds) => {
      if (taskIds.length > 0) granted.taskIds = taskIds;
      return follow(call, granted, options);
    });
  };
}

// Not an async function: thousands of subscriptions may be open for hours, and the state of a waiting async function would be a
// tenth of the memory of each.
function follow(call: Call, granted: SubscriptionFilter, options: ListenOptions): Outcome | Promise<Outcome> {
  const { bus, complete } = options;
  const tag = { [SUBSCRIPTION_ID]: call.id };
  // The acknowledgement must be the first notification, so it is sent before the subscription to the bus.
  call.notify(ACKNOWLEDGED, { notifications: { ...granted }, _meta: tag });
  if (isEmpty(granted) || hasEnded(call)) return complete({}, tag);
  const unsubscribe = bus.subscribe(forwarder(call, granted, tag, options));
  return new Promise((resolve) => {
    onEnd(call, () => {
      unsubscribe();
      resolve(complete({}, tag));
    });
  });
}

function forwarder(
  call: Call,
  granted: SubscriptionFilter,
  _meta: JsonObject,
  { tasks, log }: Pick<ListenOptions, 'tasks' | 'log'>,
): (change: BusMessage) => void {
  const uris = granted.resourceSubscriptions && new Set(granted.resourceSubscriptions);
  const taskIds = granted.taskIds && new Set(granted.taskIds);
  return function forward(change) {
    if (change.kind === 'resource') {
      if (uris?.has(change.uri)) call.notify('notifications/resources/updated', { uri: change.uri, _meta });
    } else if (change.kind === 'task') {
      if (!taskIds?.has(change.id)) return;
      tasks?.details(change.id).then(
        (task) => task && call.notify('notifications/tasks', withTag(task, _meta)),
        // No call waits for this, and the client polls the task anyway.
        (error) => log('error', `Task ${change.id} could not be read for a client that watches it`, error),
      );
    } else if (granted[`${change.kind}ListChanged`]) {
      call.notify(`notifications/${change.kind}/list_changed`, { _meta });
    }
  };
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
