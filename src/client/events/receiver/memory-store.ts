import type { EventStore } from '../../model/events.js';

/** A store that lasts as long as the process. */
export function memoryEventStore(): EventStore {
  const values = new Map<string, string>();
  return {
    get: async (key) => values.get(key),
    async set(key, value, { expected } = {}) {
      if (expected !== undefined && (values.get(key) ?? null) !== expected) return false;
      values.set(key, value);
      return true;
    },
    async delete(key) {
      values.delete(key);
    },
  };
}
