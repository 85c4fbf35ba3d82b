// Makes, refreshes and ends subscriptions, whatever happens in between.

import type { JsonObject } from '../../../jsonrpc/message.js';
import type { Auth } from '../../../protocol/call.js';
import { McpError } from '../../../protocol/errors.js';
import { eventFailure } from '../../../protocol/event-failures.js';
import type { EventDialect } from '../../../protocol/events/dialects.js';
import { readSecret, webhookKey } from '../../../protocol/events/signature.js';
import type { WebhookOptions } from '../../../server/define/webhook-options.js';
import type { Logger } from '../../../server/state/log.js';
import type { Lease, Store, StoreChange } from '../../../state/store.js';
import { StoreFull } from '../../../state/store-shares.js';
import { eventGroup } from '../log/keys.js';
import type { LogPosition } from '../log/positions.js';
import type { EventFanOut } from './fan-out.js';
import { subscriptionId } from './identity.js';
import { grantedMs, type WebhookTimes } from './limits.js';
import { newsChange } from './news.js';
import { INTENT_MS, type Intents } from './outgoing/intent.js';
import type { RequestedDelivery, RequestedTimes } from './requests.js';
import { schemasOf } from './schema-change.js';
import { startOf } from './start.js';
import { hostPlace, placeOf, type SubscriptionPlace, type WebhookQueues } from './stored/places.js';
import type { SecretKeeper } from './stored/secrets.js';
import {
  type DeliveryProgress,
  GRACE_MS,
  isLive,
  type News,
  newProgress,
  readHead,
  type StoredSubscription,
  type SubscriptionHead,
} from './stored/subscription.js';
import { addToIndex, isSameCaller, removeFromIndex } from './subscribers.js';
import type { WebhookType } from './types.js';

/** The parts of a `WebhookSubscriptions`. */
export interface WebhookSubscriptionsParts {
  /** The name of the server. */
  readonly server: string;
  readonly store: Store;
  readonly queues: WebhookQueues;
  readonly limits: Required<WebhookOptions>;
  readonly times: WebhookTimes;
  readonly intents: Intents;
  readonly secrets: SecretKeeper;
  readonly fanOut: Pick<EventFanOut, 'position'>;
  /** Called when a subscription may have something to deliver. */
  readonly onWork: () => void;
  readonly log: Logger;
}

/** A subscription that a caller asks for. The caller may have it. */
export interface SubscriptionInit {
  readonly principal: string;
  readonly auth: Auth;
  readonly dialect: EventDialect;
  readonly type: WebhookType;
  /** The arguments as they were sent. */
  readonly args: JsonObject;
  readonly delivery: RequestedDelivery;
  readonly times: RequestedTimes;
}

/** The result of `events/subscribe`. */
export interface Subscribed extends JsonObject {
  readonly id: string;
  readonly refreshBefore: string;
  readonly cursor: string;
  readonly truncated: boolean;
}

/** Each conflict means that another request has changed the subscription. */
const MAX_CONFLICTS = 20;
/** The time for which the end of a subscription is remembered, for a caller that ends it again. */
const ENDED_MS = 86_400_000;
const PAGE = 100;

/** The subscriptions of a server. */
export class WebhookSubscriptions {
  readonly #parts: WebhookSubscriptionsParts;

  constructor(parts: WebhookSubscriptionsParts) {
    this.#parts = parts;
  }

  /** Makes a subscription, or refreshes the one that has the same key. */
  async subscribe(init: SubscriptionInit): Promise<Subscribed> {
    try {
      return await this.#subscribe(init);
    } catch (error) {
      if (!(error instanceof StoreFull)) throw error;
      this.#parts.log('warning', 'The store has no room for a webhook, which was rejected.', error);
      const message = 'The server has no room for a subscription now. Try again later.';
      throw eventFailure('exhausted', message, { dialect: init.dialect, data: { limit: 'subscriptions' } });
    }
  }

  async #subscribe(init: SubscriptionInit): Promise<Subscribed> {
    const { server, store } = this.#parts;
    const { principal, args, type, delivery } = init;
    const id = await subscriptionId({ principal, args, name: type.name, url: delivery.url });
    const place = await placeOf(server, principal, id);
    for (let conflicts = 0; conflicts < MAX_CONFLICTS; conflicts++) {
      const entry = await store.get(place.head);
      const stored = entry && readHead(entry);
      if (stored?.head.status === 'starting') {
        const result = await this.#activate(place, stored, init).catch(async (error: unknown) => {
          await this.finish(place, stored, {}).catch(() => undefined);
          throw error;
        });
        if (result !== undefined) return result;
      } else if (stored !== undefined && isLive(stored)) {
        const result = await this.#refresh(place, stored, init);
        if (result !== undefined) return result;
      } else await this.#begin(place, stored, init);
    }
    throw new McpError('overloaded', 'The subscription is being changed by other requests. Try again.');
  }

  /** Ends a subscription. Returns false if there is none, and was none lately. */
  async unsubscribe(principal: string, key: Parameters<typeof subscriptionId>[0]): Promise<boolean> {
    const { server, store, queues } = this.#parts;
    const place = await placeOf(server, principal, await subscriptionId(key));
    for (;;) {
      const entry = await store.get(place.head);
      if (entry === undefined) return (await store.get(place.ended)) !== undefined;
      const stored = readHead(entry);
      const head: SubscriptionHead = { ...stored.head, status: 'ending' };
      // From here on, another process ends it if this one cannot.
      const { ok } = await store.write([
        { do: 'put', key: place.head, value: { ...head }, if: { version: stored.version } },
        { do: 'put', key: place.ended, value: {}, ttlMs: ENDED_MS },
        { do: 'enqueue', queue: queues.delivery, key: place.work },
      ]);
      if (!ok) continue;
      const ending = await store.get(place.head);
      if (ending !== undefined && ending.value['birth'] === head.birth)
        await this.finish(place, readHead(ending), {});
      return true;
    }
  }

  /** Removes everything that belongs to a subscription. With a lease, only while it is held. */
  async finish(
    place: SubscriptionPlace,
    { head, version }: Pick<StoredSubscription, 'head' | 'version'>,
    { lease }: { readonly lease?: Lease },
  ): Promise<void> {
    const { server, store, queues } = this.#parts;
    const { birth } = head;
    const group = await eventGroup(server, head.name);
    await removeFromIndex(store, group, { place, isOver: (other) => other === birth });
    await this.#leaveHost(place, head);
    const dead = await store.page(place.dead, { limit: PAGE });
    await store.write(
      [
        { do: 'delete', key: place.head, if: { version } },
        { do: 'delete', key: place.progress },
        { do: 'delete', key: place.news },
        ...dead.map(({ key }): StoreChange => ({ do: 'delete', key })),
        { do: 'dequeue', queue: queues.delivery, key: place.work },
        { do: 'count', key: place.count, by: -1 },
        ...(head.status === 'starting'
          ? []
          : [{ do: 'put', key: place.ended, value: {}, ttlMs: ENDED_MS } as const]),
      ],
      lease === undefined ? {} : { guard: lease },
    );
  }

  /** Reserves the place of a subscription, before anything is sent to its receiver. */
  async #begin(
    place: SubscriptionPlace,
    before: StoredSubscription | undefined,
    init: SubscriptionInit,
  ): Promise<void> {
    const { store, queues, limits, secrets, times } = this.#parts;
    const { maxSubscriptions, maxPerCaller } = limits;
    if (before === undefined && (await store.size(queues.delivery)) >= maxSubscriptions)
      throw exhausted(init.dialect, 'The server', maxSubscriptions);
    const head = await this.#headOf(place, init, {
      ...{
        status: 'starting',
        createdAt: Date.now(),
        birth: crypto.randomUUID(),
        refreshes: 0,
        verifiedAt: 0,
      },
      secrets: [await secrets.keep(init.delivery.secret, place.head)],
    });
    const ifThere = before === undefined ? 'absent' : { version: before.version };
    const changes: StoreChange[] = [
      { do: 'put', key: place.head, value: { ...head }, if: ifThere, ttlMs: times.startingMs + GRACE_MS },
      { do: 'enqueue', queue: queues.delivery, key: place.work, inMs: times.startingMs },
      // A process that removes the rest of an earlier subscription notices it.
      await newsChange(store, { place, type: init.type }),
      ...(before === undefined ? [{ do: 'count', key: place.count, by: 1, max: maxPerCaller } as const] : []),
    ];
    const written = await store.write(changes);
    if (!written.ok && written.refusedBy === 3) throw exhausted(init.dialect, 'You', maxPerCaller);
  }

  /** Makes a subscription that was begun: its receiver is asked, and then events are looked for. Undefined after a conflict. */
  async #activate(
    place: SubscriptionPlace,
    { head: begun, version }: StoredSubscription,
    init: SubscriptionInit,
  ): Promise<Subscribed | undefined> {
    const { store, queues, secrets, onWork } = this.#parts;
    const { type, times } = init;
    await this.#enterHost(place, begun, init.dialect);
    await this.#confirm(place, init);
    const ttlMs = grantedMs(times.ttlMs);
    const head = await this.#headOf(place, init, {
      ...{
        status: 'active',
        birth: begun.birth,
        createdAt: begun.createdAt,
        refreshes: 0,
        verifiedAt: Date.now(),
      },
      secrets: [await secrets.keep(init.delivery.secret, place.head)],
    });
    await addToIndex(store, type.history.group, { place, head });
    // Later events are noted by the process that finds this subscription in the index.
    const { start, tail, isTruncated } = await startOf(type.history, times);
    const hasReplay = type.history.compare(start, tail) < 0;
    const news = await newsChange(store, {
      place,
      type,
      ...(hasReplay && { range: { from: start, to: tail } }),
    });
    const written = await store.write([
      { do: 'put', key: place.head, value: { ...head }, if: { version }, ttlMs: ttlMs + GRACE_MS },
      { do: 'put', key: place.progress, value: { ...newProgress(start, isTruncated) } },
      news,
      { do: 'delete', key: place.ended },
      { do: 'enqueue', queue: queues.delivery, key: place.work, inMs: hasReplay ? 0 : ttlMs },
    ]);
    if (!written.ok) return undefined;
    onWork();
    return {
      id: place.id,
      refreshBefore: inFuture(ttlMs),
      cursor: type.history.cursorOf(start),
      truncated: isTruncated,
    };
  }

  /** Refreshes a subscription. Undefined after a conflict. */
  async #refresh(
    place: SubscriptionPlace,
    { head: before, version }: StoredSubscription,
    init: SubscriptionInit,
  ): Promise<Subscribed | undefined> {
    const { store, queues, secrets, onWork } = this.#parts;
    const { type, delivery, times, auth } = init;
    const isVerified = Date.now() - before.verifiedAt < INTENT_MS;
    if (!isVerified) await this.#confirm(place, init);
    const ttlMs = grantedMs(times.ttlMs);
    const head = await this.#headOf(place, init, {
      ...{
        status: 'active',
        birth: before.birth,
        createdAt: before.createdAt,
        refreshes: before.refreshes + 1,
      },
      verifiedAt: isVerified ? before.verifiedAt : Date.now(),
      secrets: await secrets.rotate(before.secrets, delivery.secret, place.head),
      schemas: before.schemas,
    });
    if (!isSameCaller(before.auth, auth)) await addToIndex(store, type.history.group, { place, head });
    const { position, progress } = await this.#watermark(place, type);
    const written = await store.write([
      { do: 'put', key: place.head, value: { ...head }, if: { version }, ttlMs: ttlMs + GRACE_MS },
      await newsChange(store, { place, type }),
      { do: 'enqueue', queue: queues.delivery, key: place.work },
    ]);
    if (!written.ok) return undefined;
    onWork();
    return {
      ...{ id: place.id, refreshBefore: inFuture(ttlMs), truncated: false },
      cursor: type.history.cursorOf(position),
      deliveryStatus: statusOf(progress),
    };
  }

  /** The position before which every event was delivered or given up. The order of the reads matters: a later one never sees an earlier state. */
  async #watermark(
    place: SubscriptionPlace,
    type: WebhookType,
  ): Promise<{ readonly position: LogPosition; readonly progress: DeliveryProgress }> {
    const { store, fanOut } = this.#parts;
    const { history } = type;
    const looked = await fanOut.position(type);
    const news = (await store.get(place.news))?.value as News | undefined;
    const progress = (await store.get(place.progress))?.value as DeliveryProgress | undefined;
    if (progress === undefined) throw new TypeError('The progress of a subscription is missing');
    const later = (a: LogPosition, b: LogPosition | undefined): LogPosition =>
      b === undefined || history.compare(a, b) >= 0 ? a : b;
    const reached = later(progress.position, news?.range ? news.range.from : looked);
    const open = progress.open.flatMap(({ what }) => (what.is === 'event' ? what.before : []));
    const position = open.reduce((least, each) => (history.compare(each, least) < 0 ? each : least), reached);
    return { position, progress };
  }

  async #headOf(
    place: SubscriptionPlace,
    { type, args, auth, dialect, delivery, times }: SubscriptionInit,
    rest: Pick<
      SubscriptionHead,
      'status' | 'createdAt' | 'refreshes' | 'verifiedAt' | 'secrets' | 'birth'
    > & {
      readonly schemas?: string;
    },
  ): Promise<SubscriptionHead> {
    const schemas = rest.schemas ?? (await schemasOf(this.#parts.store, type));
    const { id } = place;
    return {
      id,
      name: type.name,
      args,
      url: delivery.url,
      auth,
      dialect,
      ttlMs: grantedMs(times.ttlMs),
      ...rest,
      schemas,
    };
  }

  async #confirm(
    place: SubscriptionPlace,
    { principal, delivery, dialect }: SubscriptionInit,
  ): Promise<void> {
    const key = await webhookKey(readSecret(delivery.secret) as Uint8Array<ArrayBuffer>);
    await this.#parts.intents.confirm({ principal, url: delivery.url, subscription: place.id, key, dialect });
  }

  /** Counts the subscription for the host that receives it. */
  async #enterHost(
    { work }: SubscriptionPlace,
    { url, birth }: SubscriptionHead,
    dialect: EventDialect,
  ): Promise<void> {
    const { server, store, limits } = this.#parts;
    const { count, entryOf } = await hostPlace(server, new URL(url).host);
    const key = entryOf(work);
    const value = { birth };
    for (;;) {
      const entry = await store.get(key);
      const written = await store.write(
        entry === undefined
          ? [
              { do: 'put', key, value, if: 'absent' },
              { do: 'count', key: count, by: 1, max: limits.maxPerHost },
            ]
          : [{ do: 'put', key, value, if: { version: entry.version } }],
      );
      if (written.ok) return;
      if (written.refusedBy === 1) throw exhausted(dialect, 'The receiver', limits.maxPerHost);
    }
  }

  async #leaveHost({ work }: SubscriptionPlace, { url, birth }: SubscriptionHead): Promise<void> {
    const { server, store } = this.#parts;
    const { count, entryOf } = await hostPlace(server, new URL(url).host);
    const entry = await store.get(entryOf(work));
    if (entry?.value['birth'] !== birth) return;
    await store.write([
      { do: 'delete', key: entry.key, if: { version: entry.version } },
      { do: 'count', key: count, by: -1 },
    ]);
  }
}

function exhausted(dialect: EventDialect, who: 'You' | 'The server' | 'The receiver', max: number): McpError {
  const has = who === 'You' ? 'have' : 'has';
  return eventFailure(
    'exhausted',
    `${who} already ${has} ${max} subscriptions, which is the limit. End one first.`,
    { dialect, data: { limit: 'subscriptions', max } },
  );
}

/** The state of the deliveries, for a client that refreshes: from now on they continue. */
function statusOf({ lastDeliveryAt, lastError, failedSince }: DeliveryProgress): JsonObject {
  return {
    active: true,
    lastDeliveryAt: lastDeliveryAt === undefined ? null : new Date(lastDeliveryAt).toISOString(),
    lastError: lastError ?? null,
    ...(failedSince !== undefined && { failedSince: new Date(failedSince).toISOString() }),
  };
}

function inFuture(ms: number): string {
  return new Date(Date.now() + ms).toISOString();
}
