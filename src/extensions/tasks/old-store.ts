// Reads and writes whole tasks as entries of a store.

import type { JsonObject } from '../../jsonrpc/message.js';
import type { Store } from '../../state/store.js';

/** A store with whole tasks in its entries. */
export interface TaskStore {
  get(key: string): Promise<JsonObject | undefined>;
  set(key: string, value: JsonObject, expiresAt: number): Promise<void>;
  delete(key: string): Promise<void>;
  entries(prefix: string): AsyncIterable<readonly [string, JsonObject]>;
}

/** Makes a store with whole tasks in its entries. */
export function oldStore(store: Store): TaskStore {
  return {
    get: async (key) => (await store.get(key))?.value,
    async set(key, value, expiresAt) {
      await store.write([{ do: 'put', key, value, ttlMs: Math.max(0, expiresAt - Date.now()) }]);
    },
    async delete(key) {
      await store.write([{ do: 'delete', key }]);
    },
    async *entries(prefix) {
      for (let after: string | undefined; ; ) {
        const page = await store.page(prefix, after === undefined ? {} : { after });
        if (page.length === 0) return;
        for (const { key, value } of page) yield [key, value];
        after = page.at(-1)?.key;
      }
    },
  };
}
