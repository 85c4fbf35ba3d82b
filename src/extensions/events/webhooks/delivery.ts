// Delivers the events of one subscription while this process holds it.

import type { JsonObject } from '../../../jsonrpc/message.js';
import type { SafeFetch } from '../../../oauth/fetch/safe-fetch.js';
import { dialects, type EventFailure } from '../../../protocol/events/dialects.js';
import type { WebhookKey } from '../../../protocol/events/signature.js';
import { MAX_WEBHOOK_BYTES, type WebhookEnvelope } from '../../../protocol/events/wire.js';
import { displayUrl } from '../../../protocol/secrets/display-url.js';
import type { Logger } from '../../../server/state/log.js';
import type { Aside } from '../../../state/claimed-work.js';
import type { Lease, Store, StoreChange } from '../../../state/store.js';
import type { EventPage } from '../log/event-history.js';
import type { StoredEvent } from '../log/stored-event.js';
import { BusyHosts } from './hosts.js';
import type { WebhookTimes } from './limits.js';
import { type DeadLetter, Outbox, type SendResult } from './outbox.js';
import { envelopeId } from './outgoing/envelopes.js';
import { postWebhook } from './outgoing/post.js';
import { breakingChange } from './schema-change.js';
import { placeOfWork, type SubscriptionPlace } from './stored/places.js';
import type { SecretKeeper } from './stored/secrets.js';
import {
  type DeliveryProgress,
  isSuspended,
  type News,
  type OpenMessage,
  readHead,
  type StoredSubscription,
  type SubscriptionHead,
  type TerminationError,
} from './stored/subscription.js';
import { removeFromIndex } from './subscribers.js';
import type { WebhookSubscriptions } from './subscriptions.js';
import type { WebhookType, WebhookTypes } from './types.js';

/** The parts of a `Deliveries`. */
export interface DeliveriesParts {
  readonly store: Store;
  readonly types: WebhookTypes;
  readonly fetch: SafeFetch;
  readonly secrets: SecretKeeper;
  readonly subscriptions: Pick<WebhookSubscriptions, 'finish'>;
  readonly times: WebhookTimes;
  /** Whether the process shuts down, so that nothing new begins. */
  readonly isClosing: () => boolean;
  /** Called when a subscription is due again after a time. */
  readonly onLater: (inMs: number) => void;
  readonly log: Logger;
}

/** A subscription as it was read for a part of its deliveries. */
interface Held extends StoredSubscription {
  readonly place: SubscriptionPlace;
  readonly lease: Lease;
  readonly signal: AbortSignal;
  readonly progress: DeliveryProgress;
  readonly news: News | undefined;
  readonly newsVersion: string | undefined;
  readonly keys: readonly WebhookKey[];
}

/** The result of a part of the deliveries. */
interface Left {
  readonly outbox: Outbox;
  readonly news: News | undefined;
  /** The time until there is more to do; 0 if there is already. */
  readonly inMs: number;
}

/** The source of the event of a message: its type, and the event itself if it was just read. */
interface EventSource {
  readonly type?: WebhookType | undefined;
  readonly known?: StoredEvent | undefined;
}

/** The events that are read at once, and the messages that are sent at the same time. */
const BATCH = 20;
const LANES = 4;
/** The messages that may wait for another attempt before no further events are sent. */
const MAX_OPEN = 50;
/** The time after which a process lets other subscriptions have their turn. */
const TURN_MS = 15_000;
const BUSY_HOST_MS = 500;
const MISFIT_MS = 5000;
/** The longest time until a look at a subscription: a timer cannot wait forever. */
const MAX_REST_MS = 86_400_000;
/** Retries within this time are noticed at once. Later ones are found by a claim. */
const SOON_MS = 60_000;

const encoder = new TextEncoder();

/** Works on subscriptions that have something to deliver, or that have expired. */
export class Deliveries {
  readonly #parts: DeliveriesParts;
  readonly #hosts = new BusyHosts();

  constructor(parts: DeliveriesParts) {
    this.#parts = parts;
  }

  /** Delivers everything that is due, and leaves the subscription until there is more. */
  async work(lease: Lease, signal: AbortSignal, aside: Aside): Promise<void> {
    const { store } = this.#parts;
    const place = placeOfWork(lease.key);
    const entry = await store.get(place.head);
    if (entry === undefined) return this.#removeRest(lease, place);
    const stored = readHead(entry);
    const { host } = new URL(stored.head.url);
    const leave = this.#hosts.enter(host) ?? (await aside(this.#hosts.wait(host, signal)));
    if (leave === undefined) return this.#release(lease, BUSY_HOST_MS);
    try {
      const until = performance.now() + TURN_MS;
      while (await this.#turn(lease, place, { signal, isLast: () => performance.now() > until }));
    } finally {
      leave();
    }
  }

  /** One part of the work. Returns whether there is more. */
  async #turn(
    lease: Lease,
    place: SubscriptionPlace,
    { signal, isLast }: { readonly signal: AbortSignal; readonly isLast: () => boolean },
  ): Promise<boolean> {
    const { store, subscriptions, times, secrets, isClosing } = this.#parts;
    const [entry, newsEntry, progressEntry] = await Promise.all([
      store.get(place.head),
      store.get(place.news),
      store.get(place.progress),
    ]);
    if (entry === undefined) {
      await this.#removeRest(lease, place);
      return false;
    }
    const stored = readHead(entry);
    const { head, remainingMs } = stored;
    if (head.status === 'starting' && remainingMs > 0) {
      await this.#release(lease, Math.min(remainingMs, times.startingMs));
      return false;
    }
    const progress = progressEntry?.value as DeliveryProgress | undefined;
    const isOver = head.status === 'ending' || head.status === 'starting' || remainingMs <= 0;
    if (isOver || progress === undefined) {
      await subscriptions.finish(place, stored, { lease });
      return false;
    }
    const held: Held = {
      ...{ ...stored, place, lease, signal, progress },
      news: newsEntry?.value as News | undefined,
      newsVersion: newsEntry?.version,
      keys: await secrets.keysOf(head.secrets, place.head),
    };
    const left = head.status === 'terminating' ? await this.#sendLast(held) : await this.#deliver(held);
    if (left === undefined) return !isClosing() && !signal.aborted;
    return this.#leave(held, left, isLast() || isClosing() || signal.aborted);
  }

  /** Sends what is due. Undefined if the subscription has changed instead. */
  async #deliver(held: Held): Promise<Left | undefined> {
    const { store, types, times } = this.#parts;
    const { head, place, progress, news, keys, remainingMs } = held;
    const type = await types.find(head.name);
    const changed = type && (await breakingChange(store, type, head.schemas));
    if (type === undefined || changed !== undefined || keys.length === 0)
      return this.#wait(held, misfitError(head, { type, changed }));
    const outbox = new Outbox(place, withoutMisfit(progress), times.retryInMs);
    if (isSuspended(head, progress)) return { outbox, news, inMs: remainingMs };
    const input = await readInput(type, head);
    if (input === undefined) return this.#wait(held, misfitError(head, { type, changed: 'inputSchema' }));
    if (!(await type.admits(head.auth, input))) return this.#terminate(held, forbidden(head));
    const again = await this.#resend(outbox, news);
    const page = await this.#read(type, outbox, news);
    const fresh = page === undefined ? [] : await this.#messagesOf(type, outbox, { page, input, held });
    const now = Date.now();
    const due = [...again, ...outbox.progress.open.filter(({ dueAt }) => dueAt <= now)];
    const from = page && outbox.progress.position;
    if (page !== undefined) outbox.reach(page.next);
    const events = new Map(page?.events.map((event) => [messageId(head, event), event]));
    const messages = [...due, ...fresh];
    const isAdmitted = await this.#sendAll(held, outbox, { messages, events, type, input });
    if (!isAdmitted) return this.#terminate(held, forbidden(head));
    if (outbox.isHopeless) this.#suspend(held, outbox);
    const range = news?.range;
    const hasRest =
      range !== undefined &&
      type.history.compare(outbox.progress.position, range.to) < 0 &&
      // A page that does not lead further is the end of a log that was emptied.
      (page === undefined || from === undefined || type.history.compare(page.next, from) !== 0);
    const rest = news && { type: news.type, ...(hasRest && { range }) };
    const canRead = hasRest && outbox.progress.open.length < MAX_OPEN;
    const next = outbox.progress.open.reduce(
      (least, { dueAt }) => Math.min(least, dueAt),
      Number.POSITIVE_INFINITY,
    );
    const inMs = canRead ? 0 : Math.max(0, Math.min(next - Date.now(), remainingMs));
    return { outbox, news: rest, inMs: isSuspended(head, outbox.progress) ? remainingMs : inMs };
  }

  /** Saves the result. Returns whether the work goes on. */
  async #leave(held: Held, { outbox, news, inMs }: Left, mustLeave: boolean): Promise<boolean> {
    const { store, onLater } = this.#parts;
    const { lease, place, newsVersion, head } = held;
    const saved: StoreChange[] = [
      { do: 'put', key: place.progress, value: { ...outbox.progress } },
      ...outbox.changes,
    ];
    if (outbox.given > 0)
      this.#parts.log(
        'warning',
        `${outbox.given} events of "${head.name}" could not be delivered to ${displayUrl(head.url)} (subscription ${head.id}: ${outbox.progress.lastError ?? 'too large'}).`,
      );
    const put: StoreChange = {
      ...{ do: 'put', key: place.news, value: { ...news } },
      if: newsVersion === undefined ? 'absent' : { version: newsVersion },
    };
    if (inMs > 0 || mustLeave) {
      const restMs = Math.min(Math.ceil(inMs), MAX_REST_MS);
      const { ok } = await store.write([...saved, put, { do: 'release', inMs: restMs }], { guard: lease });
      if (ok && restMs < SOON_MS) onLater(restMs);
      if (ok) return false;
    }
    // There are more events, or there is other news. The progress is saved in any case.
    if (mustLeave) {
      await store.write([...saved, { do: 'release', inMs: 0 }], { guard: lease });
      return false;
    }
    const { ok } = await store.write(inMs > 0 ? saved : [...saved, put], { guard: lease });
    return ok || (await store.write(saved, { guard: lease })).ok;
  }

  /** The events that an operator sends again. */
  async #resend(outbox: Outbox, news: News | undefined): Promise<readonly OpenMessage[]> {
    const open = new Set(outbox.progress.open.map(({ id }) => id));
    return (news?.resend ?? []).flatMap((key) => {
      const message: OpenMessage = { id: key, what: { is: 'dead', key }, failures: 0, dueAt: 0 };
      return open.has(key) ? [] : [message];
    });
  }

  /** The next events, if there is room for them. */
  async #read(
    type: WebhookType,
    { progress }: Outbox,
    news: News | undefined,
  ): Promise<EventPage | undefined> {
    const { history } = type;
    const room = Math.min(BATCH, MAX_OPEN - progress.open.length);
    if (news?.range === undefined || room <= 0) return undefined;
    const { from, to } = news.range;
    const start = history.compare(progress.position, from) >= 0 ? progress.position : from;
    return history.compare(start, to) >= 0 ? undefined : history.read(start, room);
  }

  /** The messages of the events that the subscriber wants, and of a gap before them. */
  async #messagesOf(
    type: WebhookType,
    { progress }: Outbox,
    { page, input, held }: { readonly page: EventPage; readonly input: unknown; readonly held: Held },
  ): Promise<readonly OpenMessage[]> {
    const { auth } = held.head;
    const messages: OpenMessage[] = [];
    const add = (id: string, what: OpenMessage['what']): void =>
      void messages.push({ id, what, failures: 0, dueAt: Date.now() });
    if (page.isTruncated && progress.toldOfGap !== true)
      add(envelopeId('gap'), { is: 'gap', cursor: type.history.cursorOf(page.next) });
    const range = held.news?.range;
    let before = progress.position;
    if (range && type.history.compare(range.from, before) > 0) before = range.from;
    for (const event of page.events) {
      if (await this.#isWanted(type, event, { input, auth }))
        add(messageId(held.head, event), { is: 'event', before });
      before = event.position;
    }
    return messages;
  }

  async #isWanted(
    type: WebhookType,
    event: StoredEvent,
    { input, auth }: { readonly input: unknown; readonly auth: SubscriptionHead['auth'] },
  ): Promise<boolean> {
    try {
      return (await type.matches(event, input, auth)) === true;
    } catch (error) {
      this.#parts.log(
        'error',
        `"match" of the event "${type.name}" failed for the event ${event.eventId}, so it is not delivered.`,
        error,
      );
      return false;
    }
  }

  /** Sends messages, a few at the same time. Returns false if the caller may not have the events any more. */
  async #sendAll(
    held: Held,
    outbox: Outbox,
    {
      messages,
      events,
      type,
      input,
    }: {
      readonly messages: readonly OpenMessage[];
      /** The events that were just read, by the ids of their messages. */
      readonly events: ReadonlyMap<string, StoredEvent>;
      readonly type: WebhookType;
      readonly input: unknown;
    },
  ): Promise<boolean> {
    let isAdmitted = true;
    const rest = messages.values();
    const lane = async (): Promise<void> => {
      for (const message of rest) {
        if (!isAdmitted) return;
        const isEvent = message.what.is === 'event' || message.what.is === 'dead';
        if (isEvent && !(await type.admits(held.head.auth, input))) isAdmitted = false;
        else {
          const known = events.get(message.id);
          outbox.note({ message, ...(await this.#send(held, message, { type, known })) });
        }
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    return isAdmitted;
  }

  async #send(
    held: Held,
    message: OpenMessage,
    source: EventSource = {},
  ): Promise<{ readonly sent: SendResult; readonly event?: JsonObject | undefined }> {
    const { fetch } = this.#parts;
    const { head, keys, signal } = held;
    const isEvent = message.what.is === 'event' || message.what.is === 'dead';
    const event = isEvent ? await this.#eventOf(held, message, source) : undefined;
    if (isEvent && event === undefined) return { sent: 'obsolete' };
    const body = encoder.encode(JSON.stringify(event ?? envelopeOf(message)));
    if (body.length > MAX_WEBHOOK_BYTES) return { sent: 'too large', event };
    if (signal.aborted) return { sent: 'aborted' };
    try {
      const { id } = message;
      return {
        sent: await postWebhook({ url: head.url, id, subscription: head.id, body, keys }, { fetch, signal }),
        event,
      };
    } catch {
      return { sent: 'aborted' };
    }
  }

  /** The event of a message, as it is sent. Undefined if it is gone. */
  async #eventOf(
    { place, head }: Held,
    { what }: OpenMessage,
    { type, known }: EventSource,
  ): Promise<JsonObject | undefined> {
    if (what.is === 'dead')
      return ((await this.#parts.store.get(place.dead + what.key))?.value as DeadLetter | undefined)?.event;
    if (what.is !== 'event' || type === undefined) return undefined;
    const event = known ?? (await type.history.read(what.before, 1)).events[0];
    if (event === undefined) return undefined;
    const { eventId, timestamp, data, position, _meta } = event;
    const cursor = type.history.cursorOf(position);
    return { eventId, name: head.name, timestamp, data, cursor, ...(_meta && { _meta }) };
  }

  #suspend({ head }: Held, outbox: Outbox): void {
    outbox.progress = {
      ...outbox.progress,
      suspendedAt: head.refreshes,
      gone: 0,
      sample: { since: Date.now(), attempts: 0, failures: 0 },
    };
    this.#parts.log(
      'warning',
      `Webhooks to ${displayUrl(head.url)} hardly ever succeed (subscription ${head.id}). They continue when the client refreshes the subscription.`,
    );
  }

  /** Leaves the subscription to a process that fits, or ends it if there is none for a while. */
  async #wait(held: Held, error: TerminationError): Promise<Left | undefined> {
    const { times } = this.#parts;
    const { place, progress, news, remainingMs } = held;
    const misfitSince = progress.misfitSince ?? Date.now();
    if (Date.now() - misfitSince >= times.misfitMs) return this.#terminate(held, error);
    const outbox = new Outbox(place, { ...progress, misfitSince }, times.retryInMs);
    return { outbox, news, inMs: Math.max(1, Math.min(MISFIT_MS, times.misfitMs, remainingMs)) };
  }

  /** Ends the subscription, with a last message to the receiver. Events that were not delivered are dropped. */
  async #terminate(
    { head, version, place, lease, progress }: Held,
    error: TerminationError,
  ): Promise<undefined> {
    const last: OpenMessage = {
      ...{ id: envelopeId('terminated'), failures: 0, dueAt: 0 },
      what: { is: 'terminated', error },
    };
    const ended: SubscriptionHead = { ...head, status: 'terminating', error };
    await this.#parts.store.write(
      [
        { do: 'put', key: place.head, value: { ...ended }, if: { version } },
        { do: 'put', key: place.progress, value: { ...progress, open: [last] } },
      ],
      { guard: lease },
    );
    return undefined;
  }

  /** Tells the receiver that the subscription has ended, and removes it then. */
  async #sendLast(held: Held): Promise<Left | undefined> {
    const { subscriptions, times } = this.#parts;
    const { place, progress, news, remainingMs, lease } = held;
    const outbox = new Outbox(place, progress, times.retryInMs);
    for (const message of progress.open.filter(({ dueAt }) => dueAt <= Date.now()))
      outbox.note({ message, ...(await this.#send(held, message)) });
    const [next] = outbox.progress.open;
    if (next !== undefined && held.keys.length > 0)
      return { outbox, news, inMs: Math.max(1, Math.min(next.dueAt - Date.now(), remainingMs)) };
    await subscriptions.finish(place, held, { lease });
    return undefined;
  }

  /** Removes what is left of a subscription that has ended: a note of events, or more, if no process looked at it for days. */
  async #removeRest(lease: Lease, place: SubscriptionPlace): Promise<void> {
    const { store } = this.#parts;
    const [news, progress] = [await store.get(place.news), await store.get(place.progress)];
    if (news !== undefined) {
      const { type } = news.value as unknown as News;
      const isGone = async (): Promise<boolean> => (await store.get(place.head)) === undefined;
      await removeFromIndex(store, type, { place, isOver: isGone });
    }
    // Every new subscription changes the news.
    await store.write(
      [
        news === undefined
          ? { do: 'put', key: place.news, value: {}, if: 'absent', ttlMs: 1000 }
          : { do: 'delete', key: place.news, if: { version: news.version } },
        ...(progress === undefined
          ? []
          : ([
              { do: 'delete', key: place.progress },
              { do: 'count', key: place.count, by: -1 },
            ] as const)),
        { do: 'dequeue', queue: lease.queue, key: lease.key },
      ],
      { guard: lease },
    );
  }

  async #release(lease: Lease, inMs: number): Promise<void> {
    await this.#parts.store.write([{ do: 'release', inMs: Math.max(1, Math.ceil(inMs)) }], { guard: lease });
    if (inMs < SOON_MS) this.#parts.onLater(inMs);
  }
}

function envelopeOf({ what }: OpenMessage): WebhookEnvelope | undefined {
  if (what.is === 'gap') return { type: 'gap', cursor: what.cursor };
  return what.is === 'terminated' ? { type: 'terminated', error: what.error } : undefined;
}

function messageId({ dialect }: SubscriptionHead, { eventId }: StoredEvent): string {
  return dialects[dialect].webhookId === 'event' ? eventId : `msg_event_${eventId}`;
}

async function readInput(type: WebhookType, { args }: SubscriptionHead): Promise<unknown> {
  try {
    return (await type.read(args)) ?? {};
  } catch {
    return undefined;
  }
}

function withoutMisfit({ misfitSince: _, ...progress }: DeliveryProgress): DeliveryProgress {
  return progress;
}

function misfitError(
  head: SubscriptionHead,
  { type, changed }: { readonly type: WebhookType | undefined; readonly changed: string | undefined },
): TerminationError {
  if (type === undefined)
    return errorOf(head, 'not_found', { message: 'The event type was removed.', data: { kind: 'event' } });
  const feature = changed ?? 'secret';
  const data = { feature, reason: changed === undefined ? 'unreadable' : 'schema_changed' };
  return errorOf(head, 'unsupported', { message: 'The event type has changed. Subscribe again.', data });
}

function forbidden(head: SubscriptionHead): TerminationError {
  const message = 'You may not receive these events any more.';
  return errorOf(head, 'forbidden', { message, data: { reason: 'access_lost' } });
}

function errorOf(
  { dialect }: SubscriptionHead,
  failure: EventFailure,
  rest: { readonly message: string; readonly data: object },
): TerminationError {
  return { code: dialects[dialect].numbers[failure], ...rest };
}
