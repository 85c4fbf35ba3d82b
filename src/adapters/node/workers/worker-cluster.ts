// The cluster of a worker: the state that its primary process keeps.

import type { JsonObject } from '../../../jsonrpc/message.js';
import type { Bus, BusListener } from '../../../state/bus.js';
import type { Cluster } from '../../../state/cluster.js';
import type { EventLog, FollowedStream, LoggedEvent } from '../../../state/event-log.js';
import type { Store } from '../../../state/store.js';
import type { ProcessChannel, ToPrimary, ToWorker } from './messages.js';

interface OpenCall {
  readonly resolve: (result: never) => void;
  readonly reject: (error: Error) => void;
}

/** Makes a cluster of the state that the primary process keeps. */
export function workerCluster(channel: ProcessChannel<ToPrimary, ToWorker>): Cluster {
  const calls = new Map<number, OpenCall>();
  const topics = new Map<string, Set<BusListener>>();
  const follows = new Map<number, EventQueue>();
  let nextId = 1;
  let gone: Error | undefined;

  channel.onMessage(receive);
  channel.onClose(() => {
    gone = new Error('The primary process is gone, and with it the state that the workers share.');
    for (const { reject } of calls.values()) reject(gone);
    for (const queue of follows.values()) queue.end(gone);
    calls.clear();
  });

  function receive(message: ToWorker): void {
    switch (message.fullmcp) {
      case 'result':
        calls.get(message.id)?.resolve(message.result as never);
        calls.delete(message.id);
        return;
      case 'error':
        calls.get(message.id)?.reject(new (message.isRange ? RangeError : Error)(message.message));
        calls.delete(message.id);
        follows.delete(message.id);
        return;
      case 'published':
        for (const listener of [...(topics.get(message.topic) ?? [])]) listener.message(message.message);
        return;
      case 'event':
        follows.get(message.id)?.push(message.event);
        return;
      case 'end':
        follows.get(message.id)?.end(message.message === undefined ? undefined : new Error(message.message));
        follows.delete(message.id);
        return;
      case 'settings':
        return; // `serve` has asked for them
      default:
        message satisfies never;
    }
  }

  function call<T>(
    part: 'store' | 'bus' | 'eventLog',
    method: string,
    args: readonly unknown[],
    id = nextId++,
  ): Promise<T> {
    if (gone !== undefined) return Promise.reject(gone);
    return new Promise<T>((resolve, reject) => {
      calls.set(id, { resolve, reject });
      channel.send({ fullmcp: 'call', id, part, method, args: withoutTail(args) });
    });
  }

  const store: Store = {
    get: (key) => call('store', 'get', [key]),
    page: (prefix, options) => call('store', 'page', [prefix, options]),
    items: (list, options) => call('store', 'items', [list, options]),
    write: (changes, options) => call('store', 'write', [changes, options]),
    claim: (queue, options) => call('store', 'claim', [queue, options]),
    renew: (leases, ms) => call('store', 'renew', [leases, ms]),
    size: (queue) => call('store', 'size', [queue]),
    close: async () => undefined,
  };

  const bus: Bus = {
    publish: (topic, message: JsonObject) => call('bus', 'publish', [topic, message]),
    async subscribe(topic, listener) {
      const listeners = topics.get(topic) ?? new Set();
      topics.set(topic, listeners);
      const own: BusListener = { message: listener.message, gap: listener.gap };
      listeners.add(own);
      await call('bus', 'subscribe', [topic]);
      return () => {
        if (!listeners.delete(own) || listeners.size > 0 || topics.get(topic) !== listeners) return;
        topics.delete(topic);
        channel.send({ fullmcp: 'unsubscribe', topic });
      };
    },
    close: async () => undefined,
  };

  const eventLog: EventLog = {
    append: (stream, data, options) => call('eventLog', 'append', [stream, data, options]),
    async follow(after, signal) {
      const id = nextId++;
      const events = new EventQueue();
      follows.set(id, events);
      const result = await call<Pick<FollowedStream, 'stream' | 'gap'> | undefined>(
        'eventLog',
        'follow',
        [after],
        id,
      );
      if (result === undefined) {
        follows.delete(id);
        return undefined;
      }
      const stop = (): void => {
        if (follows.delete(id)) channel.send({ fullmcp: 'unfollow', id });
        events.end();
      };
      if (signal.aborted) stop();
      else signal.addEventListener('abort', stop, { once: true });
      return { ...result, events: events.read(() => signal.removeEventListener('abort', stop), stop) };
    },
    drop: (stream) => call('eventLog', 'drop', [stream]),
    close: async () => undefined,
  };

  return {
    store,
    bus,
    eventLog,
    start: async () => [],
    ping: async () => void (await store.size('ping')),
    close: async () => undefined,
  };
}

// Between processes, undefined in an array would become null.
function withoutTail(args: readonly unknown[]): readonly unknown[] {
  return args.at(-1) === undefined ? args.slice(0, -1) : args;
}

/** Events that arrived and were not read yet. */
class EventQueue {
  readonly #events: LoggedEvent[] = [];
  #isEnded = false;
  #error: Error | undefined;
  #wake: (() => void) | undefined;

  push(event: LoggedEvent): void {
    this.#events.push(event);
    this.#wake?.();
  }

  end(error?: Error): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#error = error;
    this.#wake?.();
  }

  async *read(onEnd: () => void, stop: () => void): AsyncGenerator<LoggedEvent> {
    try {
      for (;;) {
        const event = this.#events.shift();
        if (event !== undefined) yield event;
        else if (this.#error !== undefined) throw this.#error;
        else if (this.#isEnded) return;
        else
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
      }
    } finally {
      onEnd();
      stop();
    }
  }
}
