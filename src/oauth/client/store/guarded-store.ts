import { McpError } from '../../../protocol/errors.js';
import type { TokenStore } from './token-store.js';

/** A store whose errors say that it was the store that failed. Errors of `fullmcp` and aborts stay as they are. */
export function guardedStore(store: TokenStore): TokenStore {
  async function guard<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (McpError.is(error) || signal?.aborted) throw error;
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      throw new McpError(
        'unauthorized',
        `The token store failed${typeof code === 'string' ? ` (${code})` : ''}, so the tokens cannot be read or kept. Check the folder or the service that it uses; \`cause\` has the details.`,
        { cause: error },
      );
    }
  }

  return {
    get: (key) => guard(() => store.get(key)),
    set: (key, value, options) => guard(() => store.set(key, value, options)),
    delete: (key) => guard(() => store.delete(key)),
    lock: (key, options) =>
      guard(async () => {
        const release = await store.lock(key, options);
        return () => guard(release);
      }, options.signal),
  };
}
