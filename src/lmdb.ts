export { type LmdbStoreOptions, lmdbStore } from './adapters/lmdb/store.js';
export type { Store } from './server/store.js';
export type { StoreLimits } from './server/store-shares.js';
