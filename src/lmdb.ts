// The entry `fullmcp/lmdb`: a store on disk.

export { type LmdbStoreOptions, lmdbStore } from './adapters/lmdb/store.js';
export type { Store } from './state/store.js';
