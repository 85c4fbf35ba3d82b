import { isObject, type JsonObject } from '../jsonrpc/message.js';
import type { Call, Outcome } from '../protocol/call.js';
import { McpError } from '../protocol/errors.js';
import { callEnded } from '../protocol/lifetime.js';
import { SUBSCRIPTION_ID } from '../protocol/meta.js';
import type { SubscriptionFilter } from '../protocol/model.js';
import type { Bus, Change } from './bus.js';
import type { Complete } from './results.js';

export interface ListenOptions {
  readonly bus: Bus;
  readonly complete: Complete;
  /** Which changes this server publishes at all. */
  readonly publishes: (kind: Change['kind']) => boolean;
  readonly maxUris: number;
}

/** Serves `subscriptions/listen`: acknowledges, then forwards changes until the call's signal aborts. */
export function listen(options: ListenOptions): (call: Call) => Promise<Outcome> {
  const { bus, complete } = options;
  return async function listen(call) {
    const granted = grant(readFilter(call.params, options.maxUris), options.publishes);
    const tag = { [SUBSCRIPTION_ID]: call.id };
    const uris = granted.resourceSubscriptions && new Set(granted.resourceSubscriptions);
    // Nothing may come before the acknowledgement, so it goes out before the bus is listened to.
    call.notify('notifications/subscriptions/acknowledged', { notifications: { ...granted }, _meta: tag });
    if (Object.keys(granted).length === 0) return complete({}, tag);
    const unsubscribe = bus.subscribe((change) => {
      if (change.kind === 'resource') {
        if (uris?.has(change.uri))
          call.notify('notifications/resources/updated', { uri: change.uri, _meta: tag });
      } else if (granted[`${change.kind}ListChanged`]) {
        call.notify(`notifications/${change.kind}/list_changed`, { _meta: tag });
      }
    });
    try {
      await callEnded(call);
    } finally {
      unsubscribe();
    }
    return complete({}, tag);
  };
}

function readFilter(params: JsonObject, maxUris: number): SubscriptionFilter {
  const filter = params['notifications'];
  if (!isObject(filter)) throw new McpError('invalid_params', 'params.notifications must be an object');
  const uris = filter['resourceSubscriptions'];
  if (uris !== undefined && !(Array.isArray(uris) && uris.every((uri) => typeof uri === 'string'))) {
    throw new McpError('invalid_params', 'notifications.resourceSubscriptions must be a list of URIs');
  }
  if (uris !== undefined && uris.length > maxUris) {
    throw new McpError('invalid_params', `At most ${maxUris} resources can be subscribed to in one request`);
  }
  return filter as SubscriptionFilter;
}

function grant(wanted: SubscriptionFilter, publishes: ListenOptions['publishes']): SubscriptionFilter {
  const granted: SubscriptionFilter = {};
  if (wanted.toolsListChanged === true && publishes('tools')) granted.toolsListChanged = true;
  if (wanted.promptsListChanged === true && publishes('prompts')) granted.promptsListChanged = true;
  if (wanted.resourcesListChanged === true && publishes('resources')) granted.resourcesListChanged = true;
  if (wanted.resourceSubscriptions?.length && publishes('resource')) {
    granted.resourceSubscriptions = [...wanted.resourceSubscriptions];
  }
  return granted;
}
