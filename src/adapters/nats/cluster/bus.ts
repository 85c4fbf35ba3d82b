// The bus on core NATS: one subscription for each topic in a process.

import type { JsonObject } from '../../../jsonrpc/message.js';
import { tryParseObject } from '../../../jsonrpc/try-parse.js';
import type { Bus, BusListener } from '../../../state/bus.js';
import type { NatsClient } from '../connection/client.js';
import type { NatsMessage, NatsSubscription } from '../connection/nats-types.js';
import type { NatsSource } from '../connection/open.js';
import { subjectToken } from '../connection/subjects.js';

/**
 * Makes a bus. A message whose sender loses its connection is sent again, so it may arrive twice. After each reconnect, `gap` is
 * reported once the subscriptions stand.
 */
export function natsBus(source: NatsSource, prefix: string): Bus {
  const topics = new Map<string, Topic>();
  let isListening = false;
  let isClosed = false;

  const subjectOf = (topic: string): string => `${prefix}.bus.${subjectToken(topic)}`;

  async function open(): Promise<NatsClient> {
    if (isClosed) throw new Error('The bus is closed.');
    const client = await source.get();
    if (!isListening) {
      isListening = true;
      client.listen({
        up: () => {
          for (const topic of topics.values()) topic.gap();
        },
      });
    }
    return client;
  }

  return {
    async publish(topic, message) {
      const subject = subjectOf(topic);
      const data = new TextEncoder().encode(JSON.stringify(message));
      const client = await open();
      if (data.length > client.maxPayload)
        throw new RangeError(
          `A message of ${data.length} bytes is too large for the bus: NATS accepts ${client.maxPayload} (max_payload).`,
        );
      // Only the answer of the server says that the subscribers of other processes get the message.
      await client.persist(`The message to the topic "${topic}" was not sent`, () => {
        client.nc.publish(subject, data);
        return client.flush();
      });
    },
    async subscribe(name, listener) {
      const subject = subjectOf(name);
      const client = await open();
      const topic = topics.get(name) ?? new Topic(client, { name, subject });
      topics.set(name, topic);
      const remove = topic.add(listener);
      const leave = (): void => {
        if (remove() && topics.get(name) === topic) topics.delete(name);
      };
      try {
        await topic.stands();
      } catch (error) {
        leave();
        throw error;
      }
      return leave;
    },
    async close() {
      isClosed = true;
      for (const topic of topics.values()) topic.end();
      topics.clear();
    },
  };
}

/** The subscribers of a topic in this process, and their subscription. */
class Topic {
  readonly #listeners = new Set<BusListener>();
  readonly #subscription: NatsSubscription;
  readonly #client: NatsClient;
  readonly #failure: string;
  #refusal: Error | undefined;
  #standing: Promise<void> | undefined;

  constructor(client: NatsClient, { name, subject }: { readonly name: string; readonly subject: string }) {
    this.#client = client;
    this.#failure = `The topic "${name}" was not subscribed to`;
    this.#subscription = client.nc.subscribe(subject, {
      callback: (error, message) => {
        // The server refuses a subscription that the user may not make.
        if (error !== null) this.#refusal = error;
        else this.#receive(message);
      },
    });
  }

  /** Resolves when nothing is missed any more. */
  stands(): Promise<void> {
    this.#standing ??= this.#client
      .persist(this.#failure, () => this.#client.flush())
      .then(() => {
        if (this.#refusal !== undefined) throw this.#client.failure(this.#failure, this.#refusal);
      });
    return this.#standing;
  }

  /** Adds a listener. The function removes it, and returns whether it was the last. */
  add(listener: BusListener): () => boolean {
    // A listener that subscribes twice is called twice.
    const own: BusListener = { message: listener.message, gap: listener.gap };
    this.#listeners.add(own);
    return () => {
      if (!this.#listeners.delete(own) || this.#listeners.size > 0) return false;
      this.end();
      return true;
    };
  }

  gap(): void {
    for (const { gap } of [...this.#listeners]) gap();
  }

  end(): void {
    this.#listeners.clear();
    this.#subscription.unsubscribe();
  }

  #receive(message: NatsMessage): void {
    const value = parse(message);
    if (value === undefined) return;
    for (const listener of [...this.#listeners]) {
      try {
        listener.message(value);
      } catch (error) {
        // The client of NATS would stop reading. This way it is an uncaught error, as in any other callback.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}

// A process that may publish to the subject may send anything.
function parse(message: NatsMessage): JsonObject | undefined {
  return tryParseObject(new TextDecoder().decode(message.data));
}
