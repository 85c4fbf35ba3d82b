// The state that the primary process keeps for its workers.

import type { JsonObject } from '../../../jsonrpc/message.js';
import { memoryBus } from '../../../state/bus.js';
import { memoryEventLog } from '../../../state/memory/event-log.js';
import { memoryStore } from '../../../state/memory/store.js';
import type { ProcessChannel, ToPrimary, ToWorker } from './messages.js';

type WorkerChannel = ProcessChannel<ToWorker, ToPrimary>;
type AnyMethod = (...args: readonly unknown[]) => Promise<unknown>;

/** The store, the bus and the event log of all workers, in the memory of the primary process. */
export class PrimaryState {
  readonly #store = memoryStore();
  readonly #bus = memoryBus();
  readonly #eventLog = memoryEventLog();

  /** Serves one worker until it is gone. */
  serve(channel: WorkerChannel): void {
    const worker = new WorkerService(channel, {
      store: this.#store,
      bus: this.#bus,
      eventLog: this.#eventLog,
    });
    channel.onMessage((message) => worker.receive(message));
    channel.onClose(() => worker.close());
  }

  async close(): Promise<void> {
    await Promise.all([this.#store.close(), this.#bus.close(), this.#eventLog.close()]);
  }
}

interface Parts {
  readonly store: ReturnType<typeof memoryStore>;
  readonly bus: ReturnType<typeof memoryBus>;
  readonly eventLog: ReturnType<typeof memoryEventLog>;
}

class WorkerService {
  readonly #channel: WorkerChannel;
  readonly #parts: Parts;
  readonly #subscriptions = new Map<string, () => void>();
  readonly #follows = new Map<number, AbortController>();

  constructor(channel: WorkerChannel, parts: Parts) {
    this.#channel = channel;
    this.#parts = parts;
  }

  receive(message: ToPrimary): void {
    switch (message.fullmcp) {
      case 'call':
        void this.#call(message);
        return;
      case 'unsubscribe':
        this.#subscriptions.get(message.topic)?.();
        this.#subscriptions.delete(message.topic);
        return;
      case 'unfollow':
        this.#follows.get(message.id)?.abort();
        return;
      case 'settings':
        return; // the supervisor replies
      default:
        message satisfies never;
    }
  }

  close(): void {
    for (const unsubscribe of this.#subscriptions.values()) unsubscribe();
    for (const controller of this.#follows.values()) controller.abort();
  }

  async #call({ id, part, method, args }: Extract<ToPrimary, { fullmcp: 'call' }>): Promise<void> {
    try {
      if (method === 'follow') return await this.#follow(id, args[0] as string);
      const result =
        method === 'subscribe'
          ? await this.#subscribe(args[0] as string)
          : await (this.#parts[part] as unknown as Record<string, AnyMethod>)[method]?.(...args);
      this.#channel.send({ fullmcp: 'result', id, result });
    } catch (error) {
      this.#channel.send({
        fullmcp: 'error',
        id,
        message: error instanceof Error ? error.message : String(error),
        isRange: error instanceof RangeError,
      });
    }
  }

  async #subscribe(topic: string): Promise<void> {
    if (this.#subscriptions.has(topic)) return;
    const unsubscribe = await this.#parts.bus.subscribe(topic, {
      message: (message: JsonObject) => this.#channel.send({ fullmcp: 'published', topic, message }),
      gap: () => undefined,
    });
    this.#subscriptions.set(topic, unsubscribe);
  }

  async #follow(id: number, after: string): Promise<void> {
    const controller = new AbortController();
    const followed = await this.#parts.eventLog.follow(after, controller.signal);
    const result = followed && { stream: followed.stream, gap: followed.gap };
    this.#channel.send({ fullmcp: 'result', id, result });
    if (followed === undefined) return;
    this.#follows.set(id, controller);
    try {
      for await (const event of followed.events) this.#channel.send({ fullmcp: 'event', id, event });
      this.#channel.send({ fullmcp: 'end', id });
    } catch (error) {
      this.#channel.send({ fullmcp: 'end', id, message: String(error) });
    } finally {
      this.#follows.delete(id);
    }
  }
}
