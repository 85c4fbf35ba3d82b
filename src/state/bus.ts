// The contract of a bus: wakes up other processes.

import type { JsonObject } from '../jsonrpc/message.js';

/**
 * Carries short messages between the processes of a server. A bus may lose messages, but says so (`gap`), and never invents any:
 * everything that counts is in the store.
 */
export interface Bus {
  /** Sends a message to all subscribers of a topic, in this process and in all others. */
  publish(topic: string, message: JsonObject): Promise<void>;
  /**
   * Calls `listener` with every message of a topic. When the promise resolves, nothing is missed any more. Returns a function that
   * ends the subscription.
   */
  subscribe(topic: string, listener: BusListener): Promise<() => void>;
  /** Closes the bus. Called when the server closes. */
  close(): Promise<void>;
}

/** Receives the messages of a topic. */
export interface BusListener {
  /** Called with every message of the topic. */
  readonly message: (message: JsonObject) => void;
  /** Called when messages may have been missed, once nothing is missed any more: everything may have changed. */
  readonly gap: () => void;
}

/** Makes a bus for the subscribers of this process. */
export function memoryBus(): Bus {
  const topics = new Map<string, Set<BusListener>>();
  return {
    async publish(topic, message) {
      for (const listener of [...(topics.get(topic) ?? [])]) listener.message(message);
    },
    async subscribe(topic, listener) {
      const listeners = topics.get(topic) ?? new Set();
      topics.set(topic, listeners);
      // A listener that subscribes twice is called twice.
      const own: BusListener = { message: listener.message, gap: listener.gap };
      listeners.add(own);
      return () => {
        listeners.delete(own);
        if (listeners.size === 0) topics.delete(topic);
      };
    },
    async close() {
      topics.clear();
    },
  };
}
