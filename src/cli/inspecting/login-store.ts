// The logins of the command as the store of the inspector. Nothing is made on the disk before there is something to keep.

import type { TokenStore } from '../../oauth/client/store/token-store.js';
import { hasLogins } from '../target/login/login-folder.js';
import { loginStore, prepareLoginStore } from '../target/login/login-store.js';

/** The store of `fullmcp auth login`, so that a login in the page counts for later commands, and the other way round. */
export function sharedLogins(): TokenStore {
  const store = loginStore();
  let ready: Promise<void> | undefined;
  const prepared = (): Promise<void> => {
    ready ??= prepareLoginStore();
    return ready;
  };
  return {
    get: async (key) => (hasLogins() ? store.get(key) : undefined),
    set: async (key, value, options) => {
      await prepared();
      return store.set(key, value, options);
    },
    delete: async (key) => {
      if (hasLogins()) await store.delete(key);
    },
    lock: async (key, options) => {
      await prepared();
      return store.lock(key, options);
    },
  };
}
