// The seam of token storage: where a client keeps its tokens and its registrations between runs.

/**
 * Keeps the tokens and the registrations of a client. The values are strings with secrets in them. Processes may share a store:
 * then its lock lets one of them log in or refresh while the others wait. `tokenStoreContract` of `fullmcp/testing` tests one.
 */
export interface TokenStore {
  /** Reads the value of a key; undefined if there is none. */
  get(key: string): Promise<string | undefined>;
  /** Writes a value. With `expected`, only if the current value is that one. Resolves to whether the value was written. */
  set(key: string, value: string, options?: TokenWrite): Promise<boolean>;
  /** Deletes the value of a key, which need not exist. */
  delete(key: string): Promise<void>;
  /**
   * Waits until nobody else holds the lock of a key, and takes it for at most `ms`: a process that died must not keep it. The
   * returned function releases it, and has no effect if the lock has expired. Rejects with the reason of `signal`.
   */
  lock(key: string, options: TokenLock): Promise<() => Promise<void>>;
}

/** The condition of a write. */
export interface TokenWrite {
  /** The value that the key must have now; null if it must not have one. Default: any. */
  readonly expected?: string | null | undefined;
}

/** How to take a lock. */
export interface TokenLock {
  /** The time after which the lock is free even if it was not released, in milliseconds. */
  readonly ms: number;
  /** Stops waiting for the lock. */
  readonly signal?: AbortSignal | undefined;
}
