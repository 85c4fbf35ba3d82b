// The webhooks of a server as its operator sees them.

import { displayUrl } from '../../../protocol/secrets/display-url.js';
import type { WebhookDeliveries } from '../../../server/define/webhook-options.js';
import type { Store } from '../../../state/store.js';
import { addNews } from './news.js';
import type { DeadLetter } from './outbox.js';
import { placeOfWork, type SubscriptionPlace, typePlace, type WebhookQueues } from './stored/places.js';
import { type DeliveryProgress, isSuspended, readHead } from './stored/subscription.js';
import type { WebhookType, WebhookTypes } from './types.js';

const PAGE = 100;

/** Reads the subscriptions of a server, and sends events again. */
export class WebhookOperator {
  readonly #store: Store;
  readonly #queues: WebhookQueues;
  readonly #types: WebhookTypes;

  constructor(store: Store, queues: WebhookQueues, types: WebhookTypes) {
    this.#store = store;
    this.#queues = queues;
    this.#types = types;
  }

  /** The subscriptions, page by page. */
  async *deliveries(): AsyncGenerator<WebhookDeliveries, void> {
    for (const name of this.#types.names()) {
      const type = await this.#types.find(name);
      if (type !== undefined) yield* this.#ofType(type);
    }
  }

  /** Sends events that were given up again: one, or all of a subscription. Returns their number. */
  async redeliver(subscription: string, eventId?: string): Promise<number> {
    for (const name of this.#types.names()) {
      const type = await this.#types.find(name);
      const entry = type && (await this.#store.get(typePlace(type.history.group).index + subscription));
      if (type === undefined || entry === undefined) continue;
      const place = placeOfWork(`${entry.value['group']}:${subscription}`);
      const letters = await this.#deadOf(place);
      const resend = letters
        .filter(({ letter }) => eventId === undefined || letter.event['eventId'] === eventId)
        .map(({ key }) => key);
      if (resend.length > 0) await addNews(this.#store, this.#queues, { place, type, resend });
      return resend.length;
    }
    return 0;
  }

  async *#ofType({ history }: WebhookType): AsyncGenerator<WebhookDeliveries, void> {
    const { index } = typePlace(history.group);
    for (let after = ''; ; ) {
      const page = await this.#store.page(index, { limit: PAGE, ...(after !== '' && { after }) });
      for (const { key, value } of page) {
        after = key;
        const found = await this.#read(placeOfWork(`${value['group']}:${key.slice(index.length)}`));
        if (found !== undefined) yield found;
      }
      if (page.length < PAGE) return;
    }
  }

  async #read(place: SubscriptionPlace): Promise<WebhookDeliveries | undefined> {
    const entry = await this.#store.get(place.head);
    const progress = (await this.#store.get(place.progress))?.value as DeliveryProgress | undefined;
    if (entry === undefined || progress === undefined) return undefined;
    const { head } = readHead(entry);
    const status =
      head.status === 'active' ? (isSuspended(head, progress) ? 'suspended' : 'active') : 'ending';
    const { lastDeliveryAt, lastError, open } = progress;
    return {
      ...{
        subscription: head.id,
        name: head.name,
        url: displayUrl(head.url),
        subject: head.auth.subject,
        status,
      },
      lastError,
      retrying: open.flatMap(({ id, what, failures, dueAt }) =>
        what.is === 'event' || what.is === 'dead'
          ? [{ eventId: id, attempts: failures, nextAttemptAt: new Date(dueAt).toISOString() }]
          : [],
      ),
      lastDeliveryAt: lastDeliveryAt === undefined ? undefined : new Date(lastDeliveryAt).toISOString(),
      dead: (await this.#deadOf(place)).map(({ letter: { event, reason, attempts, at } }) => ({
        ...{ eventId: String(event['eventId']), reason, attempts },
        at: new Date(at).toISOString(),
      })),
    };
  }

  async #deadOf(
    place: SubscriptionPlace,
  ): Promise<readonly { readonly key: string; readonly letter: DeadLetter }[]> {
    const page = await this.#store.page(place.dead, { limit: PAGE });
    const letters = page.map(({ key, value }) => ({
      key: key.slice(place.dead.length),
      letter: value as unknown as DeadLetter,
    }));
    return letters.sort((one, other) => one.letter.at - other.letter.at);
  }
}
