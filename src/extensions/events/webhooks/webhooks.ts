// The webhooks of a server: the methods that clients call, and the work of this process.

import { delay } from '../../../async/delay.js';
import type { JsonObject } from '../../../jsonrpc/message.js';
import { readPrivateHosts } from '../../../oauth/fetch/private-hosts.js';
import type { SafeFetch } from '../../../oauth/fetch/safe-fetch.js';
import type { Auth, Call } from '../../../protocol/call.js';
import { principalOf, storableAuth } from '../../../protocol/caller.js';
import { fillDefaults } from '../../../protocol/checks/options.js';
import { eventFailure } from '../../../protocol/event-failures.js';
import type { EventDialect } from '../../../protocol/events/dialects.js';
import { displayUrl } from '../../../protocol/secrets/display-url.js';
import {
  type WebhookDesk,
  type WebhookOptions,
  webhookTable,
} from '../../../server/define/webhook-options.js';
import type { Logger } from '../../../server/state/log.js';
import { ClaimedWork } from '../../../state/claimed-work.js';
import { LeaseKeeper } from '../../../state/lease-keeper.js';
import type { Store, StoreChange } from '../../../state/store.js';
import { Deliveries } from './delivery.js';
import { EventFanOut } from './fan-out.js';
import type { WebhookTimes } from './limits.js';
import { WebhookOperator } from './operator.js';
import { Intents } from './outgoing/intent.js';
import { retryInMs } from './outgoing/schedule.js';
import { readArguments, readDelivery, readName, readTimes, readUrl } from './requests.js';
import { webhookQueues } from './stored/places.js';
import { SecretKeeper } from './stored/secrets.js';
import { WebhookSubscriptions } from './subscriptions.js';
import type { WebhookType, WebhookTypes } from './types.js';

/** The parts that webhooks are made of. */
export interface WebhookParts {
  /** The name of the server. */
  readonly server: string;
  readonly store: Store;
  readonly types: WebhookTypes;
  /** Finds the type that a call names, if its caller may have the events for these arguments. Rejects with the error of the dialect. */
  readonly enter: (
    call: Call,
    request: { readonly name: string; readonly args: JsonObject; readonly dialect: EventDialect },
  ) => Promise<WebhookType>;
  /** The hardened fetch. */
  readonly safeFetch: (options: {
    readonly privateHosts: readonly string[];
    readonly keepAlive: boolean;
  }) => SafeFetch;
  /** The secrets of the server, which seal those of subscriptions. */
  readonly secrets: () => readonly string[] | undefined;
  readonly log: Logger;
  readonly options: WebhookOptions;
  readonly leaseMs?: number | undefined;
  /** The times, if they are not those of production. */
  readonly times?: Partial<WebhookTimes>;
}

/** The webhooks of a server. */
export interface Webhooks extends WebhookDesk {
  /** Answers `events/subscribe`. */
  readonly subscribe: (call: Call, dialect: EventDialect) => Promise<JsonObject>;
  /** Answers `events/unsubscribe`. */
  readonly unsubscribe: (call: Call, dialect: EventDialect) => Promise<JsonObject>;
  /** The changes that belong in the write of an event. */
  readonly changes: (typeGroup: string) => readonly StoreChange[];
  /** Called when there are events. */
  readonly onEvents: () => void;
  /** Begins to look for work. */
  readonly start: () => void;
  /** Leaves all work to other processes. Requests to receivers may end within `drainMs`. */
  readonly close: (drainMs: number) => Promise<void>;
}

const MAX_TYPES = 16;
const MAX_SUBSCRIPTIONS = 128;
const TIMES: WebhookTimes = { misfitMs: 600_000, startingMs: 60_000, retryInMs };

/** Makes the webhooks of a server. */
export async function webhooks(parts: WebhookParts): Promise<Webhooks> {
  const { server, store, types, log, leaseMs } = parts;
  const options = fillDefaults(parts.options, webhookTable);
  const privateHosts = readPrivateHosts(options.privateHosts);
  // Every message has an id, so that a receiver knows one that is sent again.
  const fetch = parts.safeFetch({ privateHosts: options.privateHosts, keepAlive: true });
  const times = { ...TIMES, ...parts.times };
  const queues = await webhookQueues(server);
  const secrets = new SecretKeeper(parts.secrets);
  const intents = new Intents({
    fetch,
    allow: readOrigins(options.allow),
  });
  const leases = new LeaseKeeper(store, {
    ...(leaseMs !== undefined && { leaseMs }),
    onFailure: (error) =>
      log('warning', 'The leases of webhooks could not be renewed. The server retries.', error),
  });
  const claiming = { store, leases, log, owner: crypto.randomUUID(), subject: 'webhooks' };
  let isClosing = false;
  const fanOut: EventFanOut = new EventFanOut({ store, queues, types, log, onFound: () => sending.wake() });
  const finding = new ClaimedWork({
    ...claiming,
    ...{ queue: queues.fanOut, maxRunning: MAX_TYPES },
    work: (lease, signal) => fanOut.work(lease, signal),
  });
  const subscriptions = new WebhookSubscriptions({
    ...{ server, store, queues, times, intents, secrets, fanOut, log, limits: options },
    onWork: () => sending.wake(),
  });
  const deliveries = new Deliveries({
    ...{ store, types, fetch, secrets, subscriptions, times, log },
    isClosing: () => isClosing,
    onLater: (inMs) => sending.wake(inMs),
  });
  const sending = new ClaimedWork({
    ...claiming,
    ...{ queue: queues.delivery, maxRunning: MAX_SUBSCRIPTIONS },
    work: (lease, signal, aside) => deliveries.work(lease, signal, aside),
  });
  const operator = new WebhookOperator(store, queues, types);

  async function subscribe(call: Call, dialect: EventDialect): Promise<JsonObject> {
    const { principal, auth } = callerOf(call, dialect);
    const name = readName(call.params);
    const args = readArguments(call.params);
    const type = await parts.enter(call, { name, args, dialect });
    const delivery = readDelivery(call.params, { dialect, privateHosts });
    const asked = readTimes(call.params);
    return subscriptions.subscribe({ principal, auth, dialect, type, args, delivery, times: asked });
  }

  async function unsubscribe(call: Call, dialect: EventDialect): Promise<JsonObject> {
    const { principal } = callerOf(call, dialect);
    const name = readName(call.params);
    const args = readArguments(call.params);
    const url = readUrl(call.params, dialect);
    if (await subscriptions.unsubscribe(principal, { principal, url, name, args })) return {};
    const message = 'There is no subscription with this name, these arguments and this address.';
    throw eventFailure('not_found', message, { dialect, data: { kind: 'subscription' } });
  }

  return {
    subscribe,
    unsubscribe,
    changes: (typeGroup) => fanOut.changes(typeGroup),
    onEvents: () => finding.wake(),
    start() {
      finding.start();
      sending.start();
    },
    async close(drainMs) {
      isClosing = true;
      const controller = new AbortController();
      const deadline = delay(drainMs, { signal: controller.signal }).catch(() => undefined);
      const closed = Promise.all([finding.close(deadline), sending.close(deadline)]);
      await closed;
      controller.abort();
      leases.close();
    },
    deliveries: () => operator.deliveries(),
    async redeliver(subscription, eventId) {
      const count = await operator.redeliver(subscription, eventId);
      if (count > 0) sending.wake();
      return count;
    },
  };
}

function readOrigins(allow: readonly string[]): ReadonlySet<string> {
  for (const entry of allow)
    if (!URL.canParse(entry) || new URL(entry).origin !== entry)
      throw new TypeError(
        `"webhooks.allow" has ${displayUrl(entry)}, which is not an origin, such as "https://hooks.example.com".`,
      );
  return new Set(allow);
}

/** The caller that owns a subscription. An anonymous one could not be told from others. */
function callerOf(call: Call, dialect: EventDialect): { readonly principal: string; readonly auth: Auth } {
  const { auth } = call;
  if (auth === undefined)
    throw eventFailure('forbidden', 'Only a caller that is logged in can subscribe a webhook.', {
      dialect,
      data: { reason: 'no_caller' },
    });
  return { principal: principalOf(call), auth: storableAuth(auth) };
}
