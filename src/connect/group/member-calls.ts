// Calls, lists and subscriptions of one server of a group, through the server's client.

import { unlessAborted } from '../../async/abort.js';
import type { SendOptions } from '../../client/calls/call-sender.js';
import type { Change, Client } from '../../client/model/client.js';
import type { CallOptions } from '../../client/model/options.js';
import { toFilter, toSubscribeTo } from '../../client/subscriptions/subscribe-to.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Call, Outcome } from '../../protocol/call.js';
import { McpError, throwCancelled } from '../../protocol/errors.js';
import { EVENT_STREAM } from '../../protocol/events/methods.js';
import { progressToken } from '../../protocol/meta.js';
import type { SubscriptionFilter } from '../../protocol/model/model.js';
import { lists } from '../routing/lists.js';
import { withServer } from '../routing/names.js';
import type { ListName, RoutedSubscription } from '../routing/router.js';

/** The parts of a member that calls need. */
interface CalledMember {
  readonly name: string;
  readonly connect: () => Promise<Client>;
  readonly mark: <T extends object>(settled: T) => T;
  readonly named: (error: unknown) => McpError;
  readonly problem: (message: string, cause?: unknown) => void;
}

// The caller's client enforces the timeout.
const noLimit = { timeoutMs: Number.POSITIVE_INFINITY, maxTimeoutMs: Number.POSITIVE_INFINITY };

/** Makes the call on a member, with `changes` to its parameters. Notifications of the call go to the caller. */
export async function forward(member: CalledMember, call: Call, changes: JsonObject = {}): Promise<Outcome> {
  const { _meta, ...params } = call.params;
  const { progressToken: _, ...meta } = (_meta ?? {}) as Record<string, unknown>;
  const token = progressToken(call.params);
  const { logLevel } = call.peer;
  const client = await unlessAborted(member.connect(), call.signal).catch(throwCancelled);
  try {
    const outcome = await client.request(
      call.method,
      { ...params, ...changes },
      {
        signal: call.signal,
        ...noLimit,
        meta,
        ...(call.method === EVENT_STREAM && streaming(call)),
        ...(logLevel !== undefined && {
          logLevel,
          onLog: (message) => call.notify('notifications/message', { ...message }),
        }),
        ...(token !== undefined && {
          onProgress: (progress) =>
            call.notify('notifications/progress', { progressToken: token, ...progress }),
        }),
      },
    );
    return member.mark(withServer(member, call.method, outcome));
  } catch (error) {
    throw member.named(error);
  }
}

/** The options of a call whose notifications are all for its caller. Its own client resumes it. */
function streaming({ notify: onNotification }: Call): CallOptions {
  const options: SendOptions = { noTimeout: true, skipMiddleware: true, onNotification };
  return options;
}

/** A whole list of a server, without the entries that have no name. */
export async function fetchList(
  client: Client,
  kind: ListName,
  signal: AbortSignal,
): Promise<readonly JsonObject[]> {
  const { capability, key } = lists[kind];
  // Servers declare events in two places. The client knows both, and asks no server that has none.
  if (kind !== 'events' && client.server.capabilities[capability] === undefined) return [];
  try {
    const items = (await client[kind]({ signal, ...noLimit }).all()) as readonly object[];
    return (items as readonly JsonObject[]).filter((item) => isObject(item) && typeof item[key] === 'string');
  } catch (error) {
    // Some servers declare resources but lack some of the methods.
    if (McpError.is(error) && error.code === 'method_not_found') return [];
    throw error;
  }
}

/** Subscribes to changes of a server, which are reported as the notifications that they came with. */
export async function subscribe(
  member: CalledMember,
  wanted: SubscriptionFilter,
  onChange: (method: string, params: JsonObject) => void,
): Promise<RoutedSubscription> {
  const client = await member.connect();
  const subscription = await client.subscribe(toSubscribeTo(wanted), {
    onChange: (change) => report(member, client, change, onChange),
  });
  return { accepted: toFilter(subscription.accepted), close: () => void subscription.close() };
}

function report(
  member: CalledMember,
  client: Client,
  change: Change,
  notify: (method: string, params: JsonObject) => void,
): void {
  if (change.kind === 'resource') notify('notifications/resources/updated', { uri: change.uri });
  else if (change.kind !== 'task') notify(`notifications/${change.kind}/list_changed`, {});
  // A notification carries the task with its result or error, which a change does not have.
  else
    void client.request('tasks/get', { taskId: change.id }).then(
      ({ resultType: _, ...task }) => notify('notifications/tasks', { ...task, taskId: change.id }),
      (error) => member.problem(`the task ${change.id} changed but cannot be read`, error),
    );
}
